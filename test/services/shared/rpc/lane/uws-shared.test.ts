import { randomBytes } from "node:crypto";
import { create, toBinary } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test } from "vitest";
import { GetAgentRequestSchema } from "#proto/core/v1/agent_service_pb.js";
import { type HeardLane, TOKEN_HEADER } from "../../../../../services/shared/rpc/lane/announcement.js";
import {
  type AnswerRecord,
  callRecord,
  giveId,
  goneRecord,
  readAnswers,
} from "../../../../../services/shared/rpc/lane/records.js";
import {
  BINARY,
  binaryFrame,
  FrameReader,
  handshake,
  SHARED_PATH,
} from "../../../../../services/shared/rpc/lane/websocket.js";
import { GET_PATH, laneAt, openByHand, startLane } from "./support.js";

// What a lane's server makes of a connection that calls share, byte by byte.

type Rig = Awaited<ReturnType<typeof startLane>>;
let rig: Rig;
let lane: HeardLane;
beforeEach(async () => {
  rig = await startLane();
  lane = await laneAt(rig.server.port);
  rig.world.begun.length = 0;
});
afterEach(() => rig.close());

const MESSAGE = toBinary(GetAgentRequestSchema, create(GetAgentRequestSchema, { agentId: "a1" }));

/** A connection that has shown a token, and what comes on it. */
async function shared(token = lane.token) {
  const { request } = handshake(`HTTP/1.1\r\nhost: h\r\n${TOKEN_HEADER}: ${token}\r\n`);
  const { socket, said, closed } = openByHand(lane);
  const answers: AnswerRecord[] = [];
  let read = 0;
  const reader = new FrameReader(1 << 20, (opcode, payload) => {
    if (opcode === BINARY) readAnswers(payload, (answer) => answers.push(answer));
  });
  socket.write(request);
  let isClosed = false;
  void closed.then(() => {
    isClosed = true;
  });
  await expect.poll(() => isClosed || said().includes("\r\n\r\n")).toBe(true);
  read = said().indexOf("\r\n\r\n") + 4;
  socket.on("data", () => {
    const fresh = Buffer.from(said().slice(read), "latin1");
    read = said().length;
    reader.push(fresh);
  });
  const send = (...records: Buffer[]): void => {
    socket.write(
      binaryFrame(
        records,
        records.reduce((sum, { length }) => sum + length, 0),
      ),
    );
  };
  return { socket, said, closed, answers, send, isClosed: () => isClosed };
}

function call(id: number, given: Partial<Parameters<typeof callRecord>[0]> = {}, message = MESSAGE): Buffer {
  const head = { path: GET_PATH, assertion: "ana", authorization: "", traceparent: "", timeout: "", ...given };
  const bytes = callRecord(head, message) as Buffer;
  giveId(bytes, id);
  return bytes;
}

test("who has no token is hung up on without a word", async () => {
  const { said, closed } = await shared(randomBytes(32).toString("base64url"));
  await closed;
  expect(said()).toBe("");
});

test("calls of one frame are answered, each with its id", async () => {
  const { socket, answers, send } = await shared();
  send(call(7), call(9, { assertion: "eve" }), call(8, { path: "/none.Such/Rpc" }), call(6, { timeout: "soon" }));
  await expect.poll(() => answers.length).toBe(4);
  const statuses = Object.fromEntries(answers.map(({ id, status }) => [id, status]));
  expect(statuses).toEqual({ 6: 400, 7: 200, 8: 404, 9: 401 });
  expect(answers.find(({ id }) => id === 7)?.body.toString()).toContain("a1");
  expect(answers.find(({ id }) => id === 9)?.head).toBe("content-type: application/json");
  expect(rig.world.begun).toEqual(["get"]);
  socket.destroy();
});

test("a quick answer does not wait for a slow one of the same frame", async () => {
  let finish = (): void => undefined;
  rig.world.get = async (id) => {
    if (rig.world.begun.length === 1) await new Promise<void>((resolve) => (finish = resolve));
    return { agent: { id } };
  };
  const { socket, answers, send } = await shared();
  send(call(1), call(2));
  await expect.poll(() => answers.map(({ id }) => id)).toEqual([2]);
  finish();
  await expect.poll(() => answers.map(({ id }) => id)).toEqual([2, 1]);
  socket.destroy();
});

test("bytes that are no frame of calls, or too long, end the connection, and others are served", async () => {
  for (const bytes of [Buffer.from("no record of a call"), Buffer.alloc(17 << 20)]) {
    const { send, closed } = await shared();
    send(bytes);
    await closed;
  }
  const good = await shared();
  good.send(call(1));
  await expect.poll(() => good.answers.length).toBe(1);
  good.socket.destroy();
  expect(rig.world.begun).toEqual(["get"]);
});

const MASK = [0, 0, 0, 0];
test.each([
  ["a reserved bit", [0xc2, 0x80, ...MASK]],
  ["an opcode that is not given", [0x83, 0x80, ...MASK]],
  ["a continuation of nothing", [0x80, 0x80, ...MASK]],
  ["a ping in pieces", [0x09, 0x80, ...MASK]],
  ["a ping that is longer than one may be", [0x89, 0xfe, 0, 126, ...MASK, ...Buffer.alloc(126)]],
  ["a frame of 2^63 bytes", [0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, ...MASK]],
  ["a new message inside another", [0x02, 0x81, ...MASK, 1, 0x82, 0x81, ...MASK, 1]],
  [
    "a record in pieces of which the last is missing",
    [0x02, 0x8a, ...MASK, ...call(1).subarray(0, 10), 0x80, 0x80, ...MASK],
  ],
  ["that it closes, without a code", [0x88, 0x80, ...MASK]],
  ["that it closes, with a code that is none", [0x88, 0x82, ...MASK, 0, 1]],
])("a client that sends %s is hung up on, and its calls hear of it", async (_what, bytes) => {
  let isTold = false;
  rig.world.get = (_id, { signal }) =>
    new Promise((_, reject) =>
      signal.addEventListener("abort", () => {
        isTold = true;
        reject(signal.reason);
      }),
    );
  const { socket, send, closed } = await shared();
  send(call(1));
  socket.write(Buffer.from(bytes));
  await closed;
  await expect.poll(() => isTold).toBe(true);
  rig.world.get = (id) => ({ agent: { id } });
  const good = await shared();
  good.send(call(1));
  await expect.poll(() => good.answers.length).toBe(1);
  good.socket.destroy();
});

test("calls are read in whatever pieces and frames they come, with a ping between them", async () => {
  const { socket, answers } = await shared();
  const bytes = Buffer.concat([call(1), call(2)]);
  const [first, rest] = [bytes.subarray(0, 50), bytes.subarray(50, 150)];
  const pieces = [
    ...[0x02, 0x80 | first.length, ...MASK, ...first],
    ...[0x89, 0x80, ...MASK],
    ...[0x80, 0x80 | rest.length, ...MASK, ...rest],
  ];
  for (const byte of pieces) {
    socket.write(Buffer.from([byte]));
    await new Promise((resolve) => setImmediate(resolve));
  }
  await expect
    .poll(() => answers.map(({ id, status }) => [id, status]))
    .toEqual([
      [1, 200],
      [2, 200],
    ]);
  socket.destroy();
});

test("a message that is too long for its rpc is refused, and the connection goes on", async () => {
  const { socket, answers, send } = await shared();
  send(call(1, {}, Buffer.alloc(5 << 20)));
  send(call(2));
  await expect
    .poll(() => answers.map(({ id, status }) => [id, status]))
    .toEqual([
      [1, 429],
      [2, 200],
    ]);
  socket.destroy();
});

/** Methods run until their caller has gone. @returns which of them heard so, as they were begun. */
function tellsWhoIsGone(): number[] {
  const told: number[] = [];
  rig.world.get = (_id, { signal }) => {
    const n = rig.world.begun.length;
    return new Promise((_, reject) =>
      signal.addEventListener("abort", () => {
        told.push(n);
        reject(signal.reason);
      }),
    );
  };
  return told;
}

test("methods are told when their client has gone, or one call of it is taken back", async () => {
  const told = tellsWhoIsGone();
  const { socket, send, answers } = await shared();
  send(call(1), call(2), call(3));
  await expect.poll(() => rig.world.begun.length).toBe(3);
  // Of a call that is not there nothing is to be taken back.
  send(goneRecord(2), goneRecord(99));
  await expect.poll(() => told).toEqual([2]);
  socket.destroy();
  await expect.poll(() => told.sort()).toEqual([1, 2, 3]);
  expect(answers).toEqual([]);
});

test("an id that a call has which still runs ends the connection, and every method hears of it", async () => {
  const told = tellsWhoIsGone();
  const { send, closed, answers } = await shared();
  // What is no record comes behind it: a connection is closed once.
  send(call(1), call(2), call(1), call(3), Buffer.from("no record"));
  await closed;
  await expect.poll(() => told.sort()).toEqual([1, 2]);
  expect(rig.world.begun).toHaveLength(2);
  expect(answers).toEqual([]);
});

test("more calls at once than a client makes end the connection", async () => {
  rig.world.get = (_id, { signal }) =>
    new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));
  const { send, isClosed, closed } = await shared();
  for (let id = 0; id < 128; id++) send(call(id));
  await expect.poll(() => rig.world.begun.length).toBe(128);
  // One for which another is taken back is no more.
  send(goneRecord(5), call(128));
  await expect.poll(() => rig.world.begun.length).toBe(129);
  expect(isClosed()).toBe(false);
  send(call(129));
  await closed;
  expect(rig.world.begun).toHaveLength(129);
});

test("a client that reads no answers is hung up on before they fill the memory", async () => {
  const answer = { agent: { id: "x".repeat(8 << 20) } };
  let isTold = false;
  rig.world.get = (_id, { signal }) => {
    if (rig.world.begun.length > 1) return answer;
    signal.addEventListener("abort", () => {
      isTold = true;
    });
    return new Promise(() => undefined);
  };
  const { socket, send } = await shared();
  socket.pause();
  // Nor does it wait: each of its calls is there before its connection can be seen to have ended.
  send(...Array.from({ length: 100 }, (_, id) => call(id)));
  await expect.poll(() => isTold).toBe(true);
  // 128 MiB, and what the system took.
  expect(rig.world.begun.length).toBeGreaterThan(16);
  expect(rig.world.begun.length).toBeLessThan(24);
  socket.destroy();
});

test("a lane that closes begins nothing more, and is gone when its connections are", async () => {
  const { socket, answers, send, closed } = await shared();
  send(call(1));
  await expect.poll(() => answers.length).toBe(1);
  const begun = performance.now();
  const isClosed = rig.server.close(10_000);
  send(call(2));
  await expect.poll(() => answers.at(-1)).toMatchObject({ id: 2, status: 421 });
  socket.destroy();
  await closed;
  await isClosed;
  expect(performance.now() - begun).toBeLessThan(4_000);
  expect(rig.world.begun).toEqual(["get"]);
});

test("a lane can be opened again and again", async () => {
  // Each connection is counted until it has gone: else the lane would be full after 2,000 of them.
  for (let i = 0; i < 2_100; i += 100) {
    const all = await Promise.all(Array.from({ length: 100 }, () => shared()));
    for (const { socket, closed } of all) {
      socket.destroy();
      await closed;
    }
  }
  const { socket, answers, send } = await shared();
  send(call(1));
  await expect.poll(() => answers.length).toBe(1);
  socket.destroy();
});

test("another path is no way to share a connection", async () => {
  expect(SHARED_PATH).toBe("/calls");
  const { socket, said } = openByHand(lane);
  socket.write(
    `GET / HTTP/1.1\r\nhost: h\r\n${TOKEN_HEADER}: ${lane.token}\r\nupgrade: websocket\r\nconnection: upgrade\r\n\r\n`,
  );
  await expect.poll(said).toMatch(/^HTTP\/1.1 204/);
  socket.destroy();
});
