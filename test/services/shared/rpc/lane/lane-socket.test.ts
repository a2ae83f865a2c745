import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import fc from "fast-check";
import { afterEach, expect, test, vi } from "vitest";
import { LOCAL_HOST } from "../../../../../services/shared/rpc/lane/announcement.js";
import { LaneSocket } from "../../../../../services/shared/rpc/lane/lane-socket.js";

// What a client makes of the other end of a connection that has one call at a time.

const closings: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of closings.splice(0).reverse()) await close();
});

const SHOWN = "HTTP/1.1 204 No Content\r\n\r\n";

/** A connection whose other end has said that it knows the token. */
async function open() {
  const taken: Socket[] = [];
  const server = createServer((socket) => {
    taken.push(socket.on("error", () => undefined));
    socket.once("data", () => socket.write(SHOWN));
  }).listen(0, LOCAL_HOST);
  await once(server, "listening");
  closings.push(() => {
    for (const socket of taken) socket.destroy();
    server.close();
  });
  const on = { freed: vi.fn(), closed: vi.fn() };
  const { port } = server.address() as AddressInfo;
  const socket = new LaneSocket({ host: LOCAL_HOST, port, token: "t" }, Buffer.from("hello"), on);
  closings.push(() => socket.close());
  await expect.poll(() => on.freed.mock.calls.length).toBe(1);
  return { socket, on, peer: taken[0] as Socket };
}

/** Sends a request, and keeps what becomes of it. */
function ask(socket: LaneSocket, request = Buffer.from("request")): string[] {
  const outcomes: string[] = [];
  socket.send(request, {
    answered: ({ status }, body) => void outcomes.push(`${status} ${body}`),
    lost: () => void outcomes.push("lost"),
  });
  return outcomes;
}

function answer(body: string, more = ""): string {
  return `HTTP/1.1 200 OK\r\n${more}content-length: ${body.length}\r\n\r\n${body}`;
}

test("answers are read in whatever pieces they come, one after the other", async () => {
  const { socket, peer } = await open();
  const body = fc.string({ unit: "binary-ascii", maxLength: 50 });
  await fc.assert(
    fc.asyncProperty(body, fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 1 }), async (text, sizes) => {
      const outcomes = ask(socket);
      const bytes = answer(text);
      for (let at = 0, i = 0; at < bytes.length; i++) {
        const size = sizes[i % sizes.length] as number;
        peer.write(bytes.slice(at, at + size), "latin1");
        at += size;
        await new Promise((resolve) => setImmediate(resolve));
      }
      await vi.waitFor(() => expect(outcomes).toEqual([`200 ${text}`]));
    }),
    { numRuns: 30 },
  );
});

test.each([
  ["more than its length", `${answer("a")}b`, "lost"],
  ["two answers at once", answer("a") + answer("b"), "lost"],
  ["no length", "HTTP/1.1 200 OK\r\n\r\n", "lost"],
  ["a length above 64 MiB", "HTTP/1.1 200 OK\r\ncontent-length: 99999999\r\n\r\n", "lost"],
  ["chunks", "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n", "lost"],
  ["that it goes on", "HTTP/1.1 100 Continue\r\n\r\n", "lost"],
  ["no HTTP", "SSH-2.0-x\r\n\r\n", "lost"],
  ["a head without an end", `HTTP/1.1 200 OK\r\n${"x-a: b\r\n".repeat(3_000)}`, "lost"],
  ["that it closes", answer("a", "connection: close\r\n"), "200 a"],
])("a server that answers with %s is left, and its call ends once", async (_what, bytes, outcome) => {
  const { socket, on, peer } = await open();
  const outcomes = ask(socket);
  peer.write(bytes);
  await expect.poll(() => on.closed.mock.calls.length).toBe(1);
  expect(outcomes).toEqual([outcome]);
});

test("a server that ends in the middle of an answer, or says something that was not asked, is left", async () => {
  const [half, unasked] = [await open(), await open()];
  const outcomes = ask(half.socket);
  half.peer.end(answer("whole").slice(0, -1));
  unasked.peer.write(answer("a"));
  for (const { on } of [half, unasked]) await expect.poll(() => on.closed.mock.calls.length).toBe(1);
  expect(outcomes).toEqual(["lost"]);
});

test("a connection whose server answered before it had read the request has no other", async () => {
  const { socket, on, peer } = await open();
  peer.pause();
  const outcomes = ask(socket, Buffer.alloc(32 << 20));
  peer.write(answer("early"));
  await expect.poll(() => outcomes).toEqual(["200 early"]);
  await expect.poll(() => on.closed.mock.calls.length).toBe(1);
  // By the first answer, which showed the token.
  expect(on.freed).toHaveBeenCalledTimes(1);
});
