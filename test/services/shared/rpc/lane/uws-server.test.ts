import { randomBytes } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { GetAgentRequestSchema } from "#proto/core/v1/agent_service_pb.js";
import type { Authenticated } from "../../../../../services/shared/rpc/call.js";
import { type HeardLane, TOKEN_HEADER } from "../../../../../services/shared/rpc/lane/announcement.js";
import { ANA, authenticator, GET_PATH, headOf, laneAt, openByHand, startLane } from "./support.js";

// What a lane makes of whatever comes, byte by byte.

type Rig = Awaited<ReturnType<typeof startLane>>;
let rig: Rig;
let lane: HeardLane;
const stops: (() => unknown)[] = [];

async function start(options: Parameters<typeof startLane>[0] = {}): Promise<void> {
  rig = await startLane(options);
  const own = rig;
  stops.push(() => own.close());
  lane = await laneAt(rig.server.port);
  rig.world.begun.length = 0;
}
beforeEach(() => start());
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop();
});

const MESSAGE = Buffer.from(toBinary(GetAgentRequestSchema, create(GetAgentRequestSchema, { agentId: "a1" })));
const ours = () => ({ [TOKEN_HEADER]: lane.token, "x-caller": "ana" });
const head = (headers: Record<string, string | number>) => headOf(GET_PATH, { ...ours(), ...headers });

/** What is answered to bytes, once there is an answer or the connection has closed. */
async function answerTo(...pieces: (string | Buffer)[]): Promise<{ said: string; isClosed: boolean }> {
  const { socket, said, closed } = openByHand(lane);
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
  });
  for (const piece of pieces) {
    socket.write(piece);
    await sleep(10);
  }
  const whole = /\r\n\r\n/;
  await expect.poll(() => isClosed || whole.test(said())).toBe(true);
  await sleep(20);
  socket.destroy();
  return { said: said(), isClosed };
}

describe("who has no token", () => {
  test.each([
    ["nothing of it", {}],
    ["another one of the same length", { [TOKEN_HEADER]: randomBytes(32).toString("base64url") }],
    ["a part of one", { [TOKEN_HEADER]: "a" }],
    ["one of other characters", { [TOKEN_HEADER]: "é".repeat(43) }],
  ])("is hung up on without a word, with %s", async (_what, given) => {
    const asked = headOf(GET_PATH, { "x-caller": "ana", "content-length": MESSAGE.length, ...given });
    expect(await answerTo(asked, MESSAGE)).toEqual({ said: "", isClosed: true });
    const elsewhere = headOf("/none.Such/Rpc", { "content-length": 0, ...given });
    expect(await answerTo(elsewhere)).toEqual({ said: "", isClosed: true });
    expect(rig.world.begun).toEqual([]);
  });

  test("is hung up on before any of a long body has come", async () => {
    const asked = headOf(GET_PATH, { "x-caller": "ana", "content-length": 4 << 20 });
    expect(await answerTo(asked)).toEqual({ said: "", isClosed: true });
  });
});

test.each([
  ["garbage", "\x00\x01\x02garbage\r\n\r\n"],
  ["HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"],
  ["TLS", Buffer.from("16030100c8010000c40303", "hex")],
  ["a length that is not a number", () => head({ "content-length": "12x" })],
  ["a length and chunks", () => head({ "content-length": 3, "transfer-encoding": "chunked" })],
])("a connection that speaks %s begins nothing, and others are served", async (_what, bytes) => {
  const given = typeof bytes === "function" ? bytes() : bytes;
  const { socket, closed } = openByHand(lane);
  socket.write(given);
  await Promise.race([closed, sleep(100)]);
  socket.destroy();
  expect(rig.world.begun).toEqual([]);
  expect((await answerTo(head({ "content-length": MESSAGE.length }), MESSAGE)).said).toMatch(/^HTTP\/1.1 200/);
});

test("a message that comes in pieces is read when it is whole", async () => {
  const pieces = [...MESSAGE].map((byte) => Buffer.from([byte]));
  const { said, isClosed } = await answerTo(head({ "content-length": MESSAGE.length }), ...pieces);
  expect(said).toMatch(/^HTTP\/1.1 200/);
  expect(said).toContain("a1");
  expect(isClosed).toBe(false);
});

test("a message may come in chunks", async () => {
  const chunk = `${MESSAGE.length.toString(16)}\r\n${MESSAGE.toString("latin1")}\r\n0\r\n\r\n`;
  const { said } = await answerTo(head({ "transfer-encoding": "chunked" }), chunk);
  expect(said).toMatch(/^HTTP\/1.1 200/);
});

test("a message that is announced too long is refused at once, and the connection goes on", async () => {
  const { socket, said } = openByHand(lane);
  const long = Buffer.alloc(5 << 20);
  socket.write(head({ "content-length": long.length }));
  await expect.poll(said).toContain("resource_exhausted");
  expect(said()).toMatch(/^HTTP\/1.1 429/);
  socket.write(long);
  socket.write(head({ "content-length": MESSAGE.length }));
  socket.write(MESSAGE);
  await expect.poll(said).toContain("HTTP/1.1 200");
  socket.destroy();
  expect(rig.world.begun).toEqual(["get"]);
});

test("chunks that become too long are refused, and end the connection", async () => {
  const { socket, said, closed } = openByHand(lane);
  socket.write(head({ "transfer-encoding": "chunked" }));
  const piece = `10000\r\n${"x".repeat(1 << 16)}\r\n`;
  for (let i = 0; i < 70; i++) socket.write(piece);
  await closed;
  expect(said()).toMatch(/^HTTP\/1.1 429|^$/);
  expect(rig.world.begun).toEqual([]);
});

test.each([
  ["another type", { "content-type": "application/json" }, 415],
  ["a compressed message", { "content-encoding": "gzip" }, 501],
  ["a deadline that is not a number", { "connect-timeout-ms": "soon" }, 400],
  ["a deadline that is over", { "connect-timeout-ms": "0" }, 504],
])("a call with %s is refused", async (_what, given, status) => {
  const { said } = await answerTo(head({ "content-length": MESSAGE.length, ...given }), MESSAGE);
  expect(said).toMatch(new RegExp(`^HTTP/1.1 ${status} `));
  expect(rig.world.begun).toEqual([]);
});

test("bytes that are no message of the rpc are refused in words of ours", async () => {
  const bytes = Buffer.from([0x0a, 0xff]);
  const { said, isClosed } = await answerTo(head({ "content-length": bytes.length }), bytes);
  expect(said).toMatch(/^HTTP\/1.1 400 Bad Request/);
  expect(said).toContain("the bytes are not a valid message of this rpc");
  expect(isClosed).toBe(false);
});

test("a call by another method of HTTP is refused", async () => {
  const { said } = await answerTo(head({ "content-length": 0 }).replace(/^POST/, "GET"));
  expect(said).toMatch(/^HTTP\/1.1 405/);
  expect(said).toMatch(/\r\nallow: POST\r\n/);
});

test("an rpc that is not there is told from one that is", async () => {
  const asked = headOf("/none.Such/Rpc", { ...ours(), "content-length": 0 });
  const { said } = await answerTo(asked);
  expect(said).toMatch(/^HTTP\/1.1 404/);
  expect(said).toContain("unimplemented");
});

test("who is not known is refused before the message has come", async () => {
  const { said } = await answerTo(head({ "x-caller": "eve", "content-length": MESSAGE.length }));
  expect(said).toMatch(/^HTTP\/1.1 401/);
  expect(rig.world.begun).toEqual([]);
});

test("an answer that nobody reads is not copied, and comes whole when somebody does", async () => {
  const size = 48 << 20;
  rig.world.get = () => ({ agent: { description: "x".repeat(size) } });
  const { socket } = openByHand(lane);
  socket.pause();
  let taken = 0;
  let first = "";
  socket.write(head({ "content-length": MESSAGE.length }));
  socket.write(MESSAGE);
  await expect.poll(() => rig.world.begun.length).toBe(1);
  await sleep(100);
  socket.on("data", (piece: Buffer) => {
    first ||= piece.toString("latin1", 0, 200);
    taken += piece.length;
  });
  socket.resume();
  await expect.poll(() => taken).toBeGreaterThan(size);
  expect(first).toMatch(/^HTTP\/1.1 200/);
  // The connection is good for the next.
  rig.world.get = (id) => ({ agent: { id } });
  let said = "";
  socket.on("data", (piece: Buffer) => {
    said += piece.toString("latin1");
  });
  socket.write(head({ "content-length": MESSAGE.length }));
  socket.write(MESSAGE);
  await expect.poll(() => said).toContain("a1");
  socket.destroy();
});

describe("a credential that is looked at for a while", () => {
  const slow = {
    authenticate: async (credential: { readonly assertion?: string }): Promise<Authenticated> => {
      await sleep(30);
      return authenticator.authenticate(credential);
    },
  };

  test("is known before its message is read", async () => {
    await start({ authenticator: slow });
    const { said } = await answerTo(head({ "content-length": MESSAGE.length }), MESSAGE);
    expect(said).toMatch(/^HTTP\/1.1 200/);
  });

  test("is refused, and the connection goes on", async () => {
    await start({ authenticator: slow });
    const { socket, said } = openByHand(lane);
    socket.write(head({ "x-caller": "eve", "content-length": MESSAGE.length }));
    socket.write(MESSAGE);
    await expect.poll(said).toContain("HTTP/1.1 401");
    socket.write(head({ "content-length": MESSAGE.length }));
    socket.write(MESSAGE);
    await expect.poll(said).toContain("HTTP/1.1 200");
    socket.destroy();
  });
});

test("a key that is revoked while its message comes begins nothing; one that is while its call runs lets it end", async () => {
  const kills: (() => void)[] = [];
  let released = 0;
  await start({
    hold: (caller, kill) => {
      expect(caller).toBe(ANA);
      kills.push(kill);
      return () => void released++;
    },
  });
  kills.length = released = 0;
  const { socket, said } = openByHand(lane);
  socket.write(head({ "content-length": MESSAGE.length }));
  await expect.poll(() => kills.length).toBe(1);
  kills[0]?.();
  socket.write(MESSAGE);
  await expect.poll(said).toContain("no longer valid");
  expect(said()).toMatch(/^HTTP\/1.1 401/);
  expect([rig.world.begun, released]).toEqual([[], 1]);

  // As on the gRPC port: what a method has begun it ends.
  rig.world.get = async (id) => {
    kills[1]?.();
    await sleep(10);
    return { agent: { id } };
  };
  socket.write(Buffer.concat([Buffer.from(head({ "content-length": MESSAGE.length })), MESSAGE]));
  await expect.poll(said).toContain("HTTP/1.1 200");
  expect(released).toBe(2);
  socket.destroy();
});

test("a lane that closes tells a connection so a second later, and is gone when all have left", async () => {
  const asked = Buffer.concat([Buffer.from(head({ "content-length": MESSAGE.length })), MESSAGE]);
  const { socket, said } = openByHand(lane);
  socket.write(asked);
  await expect.poll(said).toContain("HTTP/1.1 200");
  const begun = performance.now();
  const closed = rig.server.close(10_000);
  await sleep(1_000);
  // Cut off, this call would have an unknown outcome.
  socket.write(asked);
  await expect.poll(said).toContain("HTTP/1.1 421");
  await closed;
  expect(performance.now() - begun).toBeLessThan(4_000);
  expect(rig.world.begun).toEqual(["get"]);
});

test("a caller has one share of calls, on the lane and on the gRPC port", async () => {
  await start({ slots: { calls: 2 } });
  rig.world.get = async (id) => {
    await sleep(200);
    return { agent: { id } };
  };
  const asked = Buffer.concat([Buffer.from(head({ "content-length": MESSAGE.length })), MESSAGE]);
  const all = [openByHand(lane), openByHand(lane), openByHand(lane)];
  for (const { socket } of all) socket.write(asked);
  await expect.poll(() => all.every(({ said }) => said() !== "")).toBe(true);
  const statuses = all.map(({ said }) => said().slice(9, 12)).sort();
  expect(statuses).toEqual(["200", "200", "429"]);
  for (const { socket } of all) socket.destroy();
});
