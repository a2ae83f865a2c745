import { createHash } from "node:crypto";
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterEach, expect, test, vi } from "vitest";
import { LOCAL_HOST } from "../../../../../services/shared/rpc/lane/announcement.js";
import type { AnswerHead } from "../../../../../services/shared/rpc/lane/framing.js";
import type { Asking } from "../../../../../services/shared/rpc/lane/lane-socket.js";
import { answerRecord, callRecord } from "../../../../../services/shared/rpc/lane/records.js";
import { SharedSocket } from "../../../../../services/shared/rpc/lane/shared-socket.js";
import { handshake, pongFrame } from "../../../../../services/shared/rpc/lane/websocket.js";

// What a client makes of the other end of a connection that calls share: what answers may be another program.

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

/** Says yes to a handshake, and then what a test says. */
async function openPeer({ agrees = true }: { readonly agrees?: boolean } = {}) {
  const taken: Socket[] = [];
  const server = createServer((socket) => {
    taken.push(socket);
    socket.on("error", () => undefined);
    socket.once("data", (piece) => {
      const [, key] = /sec-websocket-key: (\S+)\r\n/.exec(piece.toString("latin1")) as unknown as [string, string];
      const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
      if (agrees) socket.write(`HTTP/1.1 101 Switching Protocols\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
    });
  }).listen(0, LOCAL_HOST);
  await once(server, "listening");
  closings.push(() => {
    for (const socket of taken) socket.destroy();
    server.close();
  });
  const on = { opened: vi.fn(), closed: vi.fn() };
  const heard = { host: LOCAL_HOST, port: (server.address() as AddressInfo).port, token: "t" };
  const shared = new SharedSocket(heard, handshake("HTTP/1.1\r\nhost: h\r\n"), on);
  closings.push(() => shared.close());
  if (agrees) await expect.poll(() => on.opened.mock.calls.length).toBe(1);
  else await expect.poll(() => taken.length).toBe(1);
  return { shared, on, peer: taken[0] as Socket };
}

function frame(first: number, payload: Buffer): Buffer {
  const { length } = payload;
  const head = Buffer.alloc(length < 126 ? 2 : length < 1 << 16 ? 4 : 10);
  head[0] = first;
  head[1] = length < 126 ? length : length < 1 << 16 ? 126 : 127;
  if (head.length === 4) head.writeUInt16BE(length, 2);
  else if (head.length === 10) head.writeBigUInt64BE(BigInt(length), 2);
  return Buffer.concat([head, payload]);
}
const BINARY = 0x82;
const PING = 0x89;

/** Sends a call, and keeps what becomes of it. */
function ask(shared: SharedSocket, bytes = 10) {
  const outcomes: unknown[] = [];
  const asking: Asking = {
    answered: (head: AnswerHead, body: Buffer) => void outcomes.push(`${head.status} ${body.toString()}`),
    lost: () => void outcomes.push("lost"),
  };
  const head = { path: "/a", assertion: "", authorization: "", traceparent: "", timeout: "" };
  const id = shared.send(callRecord(head, Buffer.alloc(bytes)) as Buffer, asking);
  return { id, outcomes };
}

test("a ping is answered, and one that is longer than a ping may be ends the connection", async () => {
  const { peer, on } = await openPeer();
  const said: Buffer[] = [];
  peer.on("data", (piece) => said.push(piece));
  peer.write(frame(PING, Buffer.from("a")));
  await expect.poll(() => Buffer.concat(said)).toEqual(pongFrame(Buffer.from("a")));
  peer.write(frame(PING, Buffer.alloc(1 << 20)));
  await expect.poll(() => on.closed.mock.calls.length).toBe(1);
  expect(Buffer.concat(said)).toHaveLength(7);
});

test("who sends pings and reads nothing is not answered more than the system takes", async () => {
  const { shared, peer } = await openPeer();
  peer.pause();
  const pings = Buffer.concat(Array.from({ length: 1000 }, () => frame(PING, Buffer.alloc(125))));
  for (let i = 0; i < 400; i++) if (!peer.write(pings)) await once(peer, "drain");
  const { id, outcomes } = ask(shared);
  let read = 0;
  peer.on("data", (piece) => {
    read += piece.length;
    // The call comes behind all that was to be sent before it.
    if (piece.includes("/a\n")) peer.write(answer(id, "read"));
  });
  peer.resume();
  await expect.poll(() => outcomes).toEqual(["200 read"]);
  // 50 MB of pings.
  expect(read).toBeLessThan(25e6);
});

test("a server that reads nothing is given no more calls, also if callers take theirs back", async () => {
  const { shared, peer } = await openPeer();
  peer.pause();
  let sent = 0;
  for (; shared.hasRoom && sent < 1_000; sent++) {
    shared.takeBack(ask(shared, 64 << 10).id);
    if (sent % 50 === 49) await new Promise((resolve) => setImmediate(resolve));
  }
  // 8 MiB, what the system took, and what came in the last turn.
  expect(sent).toBeLessThan(500);
  peer.resume();
  await expect.poll(() => shared.hasRoom).toBe(true);
});

test("a connection that was left closes with its last call, also if that is taken back", async () => {
  const { shared, on } = await openPeer();
  const [first, second] = [ask(shared), ask(shared)];
  shared.leave();
  shared.takeBack(first.id);
  await sleep(20);
  expect(on.closed).not.toHaveBeenCalled();
  shared.takeBack(second.id);
  await expect.poll(() => on.closed.mock.calls.length).toBe(1);
  expect([...first.outcomes, ...second.outcomes]).toEqual([]);
});

test("a call has one answer: what comes again, or for no call, is nothing", async () => {
  const { shared, peer, on } = await openPeer();
  const [first, second, third] = [ask(shared), ask(shared), ask(shared)];
  shared.takeBack(second.id);
  peer.write(
    Buffer.concat([answer(first.id, "1"), answer(first.id, "again"), answer(second.id, "2"), answer(77, "77")]),
  );
  peer.write(answer(third.id, "3"));
  await expect.poll(() => third.outcomes).toEqual(["200 3"]);
  expect(first.outcomes).toEqual(["200 1"]);
  expect(second.outcomes).toEqual([]);
  expect(on.closed).not.toHaveBeenCalled();
});

test.each([
  ["half a record", frame(BINARY, answerRecord({ id: 1, status: 200, head: "", body: Buffer.from("b") }).subarray(1))],
  ["text", frame(0x81, Buffer.from("a"))],
  ["a part of a message", frame(0x02, Buffer.from("a"))],
  ["a continuation of nothing", frame(0x80, Buffer.from("a"))],
  ["an opcode that is not given", frame(0x83, Buffer.alloc(0))],
  ["a reserved bit", frame(0xc2, Buffer.alloc(0))],
  ["a ping in pieces", frame(0x09, Buffer.alloc(0))],
  ["a mask", Buffer.from([0x82, 0x80, 0, 0, 0, 0])],
  ["a frame of 2^63 bytes", Buffer.from([0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 0])],
  ["that it closes, without a code", frame(0x88, Buffer.alloc(0))],
  ["that it goes away", frame(0x88, Buffer.from([0x03, 0xe9]))],
  ["a code of closing that is none", frame(0x88, Buffer.from([0, 1, 0xff]))],
])("a server that sends %s is left, and each call is lost once", async (_what, bytes) => {
  const { shared, peer, on } = await openPeer();
  const calls = Array.from({ length: 128 }, () => ask(shared));
  expect(shared.hasRoom).toBe(false);
  peer.write(bytes);
  await expect.poll(() => on.closed.mock.calls.length).toBe(1);
  for (const { outcomes } of calls) expect(outcomes).toEqual(["lost"]);
  expect(shared.hasRoom).toBe(false);
});

test.each([
  ["no agreement", "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n"],
  ["another key's agreement", "HTTP/1.1 101 Switching Protocols\r\nsec-websocket-accept: x\r\n\r\n"],
  ["a head without an end", `HTTP/1.1 101 Switching Protocols\r\n${"x-a: b\r\n".repeat(3_000)}`],
  ["nothing", ""],
])("a server that answers a handshake with %s is left", async (_what, text) => {
  const begun = performance.now();
  const { shared, peer, on } = await openPeer({ agrees: false });
  if (text !== "") peer.write(text);
  await expect.poll(() => on.closed.mock.calls.length).toBe(1);
  expect(performance.now() - begun).toBeLessThan(4_000);
  expect(on.opened).not.toHaveBeenCalled();
  expect(shared.hasRoom).toBe(false);
});

test("answers are read in whatever pieces they come", async () => {
  const { shared, peer } = await openPeer();
  const calls = Array.from({ length: 4 }, () => ask(shared));
  const bytes = Buffer.concat(calls.map(({ id }) => answer(id, `of ${id}`)));
  for (const byte of bytes) {
    peer.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await expect.poll(() => calls.flatMap(({ outcomes }) => outcomes)).toEqual(calls.map(({ id }) => `200 of ${id}`));
});

function answer(id: number, text: string): Buffer {
  return frame(BINARY, answerRecord({ id, status: 200, head: "", body: Buffer.from(text) }));
}
