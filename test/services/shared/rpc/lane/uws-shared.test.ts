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

test("methods are told when their client has gone, or one call of it is taken back", async () => {
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
