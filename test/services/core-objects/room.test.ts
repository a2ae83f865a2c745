import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { bytesOf, createRoom, OBJECT_QUOTA, type RoomRecord } from "../../../services/core-objects/room.js";
import { createCoreObjectsService } from "../../../services/core-objects/service.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { as, type Rig, SEAL, startRig } from "./rig.js";

// What the objects of one user may add up to: five, or 50,000 bytes.

const agents = AgentService.method;
let rig: Rig;

beforeEach(async () => {
  rig = await startRig({ quota: { objects: 5, bytes: 50_000 } });
});
afterEach(() => rig.close());

const create = async (who: string, more: object = {}): Promise<string> => {
  const { agent } = await rig.dispatch.unary(agents.createAgent, { name: "One", ...more }, as(who));
  return agent?.id as string;
};
const refusal = (call: Promise<unknown>): Promise<string> =>
  call.then(
    () => "",
    (error: unknown) => {
      const { code, rawMessage } = ConnectError.from(error);
      return `${Code[code]}: ${rawMessage}`;
    },
  );

test("a user has so many objects, and room again for one that is deleted", async () => {
  const ids = [];
  for (let i = 0; i < 5; i++) ids.push(await create("alice"));
  expect(await refusal(create("alice"))).toMatch(
    /^ResourceExhausted: .* at most 5 .*: delete some first; nothing was changed$/,
  );
  await create("bob");
  await rig.dispatch.unary(agents.deleteAgent, { agentId: ids[0] as string }, as("alice"));
  await create("alice");
  expect(await refusal(create("alice"))).toContain("ResourceExhausted");
});

test("bytes count, also those that an update adds and a version keeps, and come back once they are deleted", async () => {
  const id = await create("alice", { instructions: "a".repeat(30_000) });
  const long = (agentId: string, instructions: string) =>
    rig.dispatch.unary(agents.updateAgent, { agentId, instructions }, as("alice"));
  expect(await refusal(create("alice", { instructions: "a".repeat(30_000) }))).toContain("ResourceExhausted");
  const other = await create("alice");
  expect(await refusal(long(other, "a".repeat(30_000)))).toContain("ResourceExhausted");
  await rig.dispatch.unary(agents.deleteAgent, { agentId: id }, as("alice"));
  await long(other, "a".repeat(30_000));
});

test("who stores nothing has no record, also if work in the background gives back what it took before they were erased", async () => {
  const records = rig.store.collection<RoomRecord>("object_room");
  const room = createRoom(records, OBJECT_QUOTA);
  await room.take("carl", 1, 100);
  await room.takeKnowledge("carl", 0, 50);
  await records.deleteOne({ _id: "carl" });
  await room.takeKnowledge("carl", 0, -50);
  expect(await records.findOne({ _id: "carl" })).toBeNull();
  await room.takeKnowledge("carl", 0, 50);
  await room.takeKnowledge("carl", 0, -50);
  expect(await records.findOne({ _id: "carl" })).toBeNull();
  // What is taken at the same time stays.
  await Promise.all(Array.from({ length: 40 }, (_, i) => room.take("carl", i % 2 === 0 ? 1 : 0, i % 2 === 0 ? 1 : 0)));
  await Promise.all(Array.from({ length: 60 }, (_, i) => room.take("carl", i < 20 ? -1 : 1, i < 20 ? -1 : 1)));
  expect(await room.of("carl")).toMatchObject({ objects: 40, bytes: 40 });
});

test("those that are made at the same time share the room", async () => {
  const made = await Promise.all(Array.from({ length: 20 }, () => refusal(create("alice"))));
  expect(made.filter((said) => said === "").length).toBeLessThanOrEqual(5);
});

test("a creation that is repeated answers as the first, also where it took the last room", async () => {
  const again = { requestId: "once" };
  const id = await create("alice", again);
  for (let i = 1; i < 5; i++) await create("alice");
  expect(await refusal(create("alice", { requestId: "another" }))).toContain("ResourceExhausted");
  expect(await create("alice", again)).toBe(id);
  expect(await Promise.all([1, 2, 3].map(() => create("alice", again)))).toEqual([id, id, id]);
});

test("of a creation that is sent several times at once into the last room none that came after it is refused", async () => {
  for (let i = 1; i < 5; i++) await create("alice");
  const said = await Promise.all(Array.from({ length: 4 }, () => refusal(create("alice", { requestId: "last" }))));
  expect(said[0]).toBe("");
  expect(await create("alice", { requestId: "last" })).not.toBe("");
  expect(await refusal(create("alice"))).toContain("ResourceExhausted");
});

test("objects that were there before anybody counted are counted at start, once", async () => {
  const long = { instructions: "a".repeat(13_500) };
  const [first] = [await create("alice", long), await create("alice", long), await create("alice", long)];
  const rooms = rig.store.collection("object_room");
  await rooms.deleteMany({});
  const restart = async () => {
    const { store, peers } = rig;
    rig.add(
      await createCoreObjectsService({
        store,
        peers,
        log: silentLog,
        seal: SEAL,
        quota: { objects: 5, bytes: 50_000 },
      }),
    );
  };
  await restart();
  expect(await refusal(create("alice", long))).toContain("ResourceExhausted");
  await create("alice");
  await create("alice");
  expect(await refusal(create("alice"))).toContain("ResourceExhausted");
  await restart();
  await rig.dispatch.unary(agents.deleteAgent, { agentId: first as string }, as("alice"));
  await create("alice", long);
  expect(await refusal(create("alice"))).toContain("ResourceExhausted");
});

test("text counts its own bytes, however long it is as JSON", () => {
  const sizeOf = (instructions: string) => bytesOf({ instructions } as never);
  const plain = sizeOf("a".repeat(10_000));
  expect(plain).toBeGreaterThan(10_000);
  expect(plain).toBeLessThan(10_100);
  expect(sizeOf('"'.repeat(10_000))).toBe(plain);
  expect(sizeOf("é".repeat(10_000)) - plain).toBe(10_000);
});

test("whom an object is shared with counts with the entries of indexes, by which they find it", () => {
  const sizeOf = (access: readonly string[]) => bytesOf({ access } as never);
  const lock = "1:u:0198c2a4-0000-7000-8000-000000000000";
  const each = sizeOf([lock, lock]) - sizeOf([lock]);
  expect(each).toBeGreaterThan(3 * (lock.length + 36));
});
