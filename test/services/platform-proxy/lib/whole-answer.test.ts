import { once } from "node:events";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { afterEach, beforeEach, expect, test } from "vitest";
import { wholeAnswerOf } from "../../../../services/platform-proxy/lib/whole-answer.js";
import { type Agent, createOutgoingAgent, type Dispatcher } from "../../../../services/shared/outgoing/agent.js";
import { PUBLIC_ONLY, withAllowed } from "../../../../services/shared/outgoing/policy.js";
import type { StopSignal } from "../../../../services/shared/rpc/dispatch.js";
import { Stop } from "../../../../services/shared/rpc/stop.js";

const MAX_BYTES = 100_000;

let server: Server;
let agent: Agent;
let origin: string;
/** What the server does with a connection that asks. */
let answer: (socket: Socket, asked: string) => void;
let asked: string[];
let sockets: Socket[];

beforeEach(async () => {
  asked = [];
  sockets = [];
  server = createServer((socket) => {
    sockets.push(socket);
    socket.on("error", () => undefined);
    socket.on("data", (bytes) => {
      asked.push(String(bytes));
      answer(socket, String(bytes));
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  agent = createOutgoingAgent({
    policy: withAllowed(PUBLIC_ONLY, ["127.0.0.1/32"]),
    connectMs: 2_000,
    connections: 1,
    maxResponseSize: MAX_BYTES,
  });
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  server.close();
  await agent.destroy();
});

const heard: number[] = [];
beforeEach(() => void heard.splice(0));
const ask = (stop: StopSignal = new Stop(), more: Partial<Dispatcher.DispatchOptions> = {}) =>
  wholeAnswerOf(agent, { origin, path: "/a", method: "GET", ...more }, stop, (status) => void heard.push(status));

const head = (length: number, more = ""): string => `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n${more}\r\n`;

test("an answer in pieces is one, in memory of its own, with names of headers in lower case", async () => {
  const text = "é".repeat(20_000);
  const bytes = Buffer.from(text);
  answer = (socket) => {
    socket.write(head(bytes.length, "X-Many: 1\r\nx-many: 2\r\n"));
    socket.write(bytes.subarray(0, 10_001));
    setTimeout(() => socket.write(bytes.subarray(10_001)), 30);
  };
  const whole = await ask();
  expect(whole).toMatchObject({ status: 200, headers: { "x-many": ["1", "2"] } });
  expect(Buffer.from(whole.bytes).toString()).toBe(text);
  expect(whole.bytes.buffer.byteLength).toBe(bytes.length);
  expect(heard).toEqual([200]);
});

test("an answer that comes byte by byte takes little more memory than its bytes", async () => {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  const count = 90_000;
  answer = (socket) => {
    socket.write(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"1\r\na\r\n".repeat(count)}`);
    setTimeout(() => socket.write("0\r\n\r\n"), 1_000);
  };
  collect();
  const before = process.memoryUsage().heapUsed;
  const pending = ask();
  await expect.poll(() => heard).toEqual([200]);
  await sleep(500);
  collect();
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(4 << 20);
  expect(Buffer.from((await pending).bytes).toString()).toBe("a".repeat(count));
});

test("an answer without a body, and what comes before the answer", async () => {
  answer = (socket) => socket.write("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 204 No Content\r\n\r\n");
  expect(await ask()).toMatchObject({ status: 204, bytes: new Uint8Array() });
  expect(heard).toEqual([204]);
});

test("a status is heard before the answer is whole; an answer that breaks off is an error", async () => {
  answer = (socket) => {
    socket.write(`${head(10)}abc`);
    setTimeout(() => socket.destroy(), 50);
  };
  const pending = ask();
  await expect.poll(() => heard).toEqual([200]);
  await expect(pending).rejects.toMatchObject({ code: "UND_ERR_SOCKET" });
});

test("an answer that is longer than may be kept is an error, and its connection ends", async () => {
  answer = (socket) => socket.write(head(MAX_BYTES + 1) + "a".repeat(MAX_BYTES + 1));
  await expect(ask()).rejects.toMatchObject({ code: "UND_ERR_RES_EXCEEDED_MAX_SIZE" });
  await expect.poll(() => sockets.every(({ closed }) => closed)).toBe(true);
});

test.each(["before the answer", "within the answer"])("stops %s with the reason, and hangs up", async (when) => {
  answer = (socket) => void (when === "within the answer" && socket.write(`${head(10)}abc`));
  const stopping = new Stop();
  const pending = ask(stopping);
  await expect.poll(() => asked.length + heard.length).toBe(when === "within the answer" ? 2 : 1);
  const reason = new Error("enough");
  stopping.abort(reason);
  await expect(pending).rejects.toBe(reason);
  await expect.poll(() => sockets.every(({ closed }) => closed)).toBe(true);
});

test("what waits for a connection when it is stopped ends at once, and is never sent", async () => {
  answer = (socket, text) => {
    if (text.includes("/slow")) setTimeout(() => socket.write(`${head(2)}ok`), 200);
    else socket.write(`${head(2)}ok`);
  };
  const slow = ask(undefined, { path: "/slow" });
  const stopping = new Stop();
  const waits = ask(stopping, { path: "/waits" });
  await expect.poll(() => asked.length).toBe(1);
  const reason = new Error("enough");
  stopping.abort(reason);
  await expect(waits).rejects.toBe(reason);
  expect(heard).toEqual([]);
  await slow;
  await ask(undefined, { path: "/next" });
  expect(asked.map((text) => text.split(" ")[1])).toEqual(["/slow", "/next"]);
});

test("what is stopped before it begins is not sent, and leaves no listener", async () => {
  answer = (socket) => socket.write(`${head(2)}ok`);
  await expect(ask(AbortSignal.abort(new Error("enough")))).rejects.toThrow("enough");
  const stop = new Stop();
  const add = stop.addEventListener.bind(stop);
  const remove = stop.removeEventListener.bind(stop);
  const listeners = new Set<() => void>();
  stop.addEventListener = (type, listener) => {
    listeners.add(listener);
    add(type, listener);
  };
  stop.removeEventListener = (type, listener) => {
    listeners.delete(listener);
    remove(type, listener);
  };
  await ask(stop);
  expect([asked.length, listeners.size]).toEqual([1, 0]);
});

test("a server that is not there is an error", async () => {
  server.close();
  await once(server, "close");
  await expect(ask()).rejects.toMatchObject({ code: "ECONNREFUSED" });
});
