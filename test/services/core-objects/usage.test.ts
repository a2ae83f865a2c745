import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code, ConnectError } from "@connectrpc/connect";
import { v7 as uuid } from "uuid";
import { afterEach, expect, test, vi } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { DocumentService } from "#proto/core/v1/document_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { RunService } from "#proto/core/v1/run_service_pb.js";
import { UsageService } from "#proto/core/v1/usage_service_pb.js";
import { recountOne } from "../../../services/core-objects/count-room.js";
import { documentBytes } from "../../../services/core-objects/knowledge/document-bytes.js";
import type { BlockRecord, DocumentRecord, SourceRecord } from "../../../services/core-objects/knowledge/records.js";
import type { ObjectRecord } from "../../../services/core-objects/record.js";
import { createRoom, OBJECT_QUOTA, type RoomRecord, takenBy } from "../../../services/core-objects/room.js";
import type { RunRecord } from "../../../services/core-objects/runs/record.js";
import { runBytes } from "../../../services/core-objects/runs/run-bytes.js";
import { plainEmbedders } from "./knowledge/plain-embedder.js";
import { refusal } from "./refusal.js";
import { as, type Rig, startRig } from "./rig.js";

// What get_usage shows is what the store holds, and nobody stores more than they may.

const agents = AgentService.method;
const documents = DocumentService.method;
let rig: Rig;
afterEach(() => rig.close());

const call: Rig["dispatch"]["unary"] = (...args) => rig.dispatch.unary(...args);

async function usage(who: string, request: object = {}): Promise<Record<string, number>> {
  const { usage: rows } = await call(UsageService.method.getUsage, request, as(who));
  const stores = rows.filter(({ name }) => !name.includes("of models today"));
  return Object.fromEntries(stores.map(({ name, used }) => [name, used]));
}

/** What the store holds of somebody. */
async function stored(owner: string) {
  const all = async <T>(name: string, filter: object = { owner }) =>
    (await rig.store
      .collection(name)
      .find(filter as never)
      .toArray()) as unknown as T[];
  const objects = [...(await all<ObjectRecord>("agents")), ...(await all<ObjectRecord>("knowledge_bases"))];
  const own = await all<DocumentRecord>("knowledge_documents");
  let knowledge = 0;
  for (const { _id } of own) {
    for (const { text, file } of await all<SourceRecord>("knowledge_sources", { document: _id }))
      knowledge += file?.length ?? Buffer.byteLength(text);
    for (const one of await all<BlockRecord>("knowledge_blocks", { document: _id }))
      knowledge += documentBytes(one.passages, one.dimensions);
  }
  const runs = await all<RunRecord>("runs");
  const rights = await all<{ readonly taken: number }>("run_rights", { _id: { $in: runs.map(({ _id }) => _id) } });
  return {
    "objects and documents": objects.length + own.length,
    "storage of objects": objects.reduce((sum, one) => sum + takenBy(one), 0),
    "storage of documents": knowledge,
    runs: runs.length,
    "storage of runs": [...runs.map(runBytes), ...rights.map(({ taken }) => taken)].reduce((sum, one) => sum + one, 0),
  };
}

test("what get_usage shows is what the store holds, after random creations, changes and deletions", async () => {
  rig = await startRig({ knowledge: { embedders: plainEmbedders(), pollMs: 20 } });
  const { agent } = await call(agents.createAgent, { name: "First" }, as("alice"));
  const { knowledgeBase } = await call(KnowledgeBaseService.method.createKnowledgeBase, { name: "kb" }, as("alice"));
  const knowledgeBaseId = knowledgeBase!.id;
  const [made, added]: [string[], string[]] = [[], []];
  const text = () => "words of a text. ".repeat(1 + Math.floor(Math.random() * 200));
  const one = (some: string[]): string => some[Math.floor(Math.random() * some.length)] as string;
  const acts = [
    async () => made.push((await call(agents.createAgent, { name: "A", instructions: text() }, as("alice"))).agent!.id),
    async () => made[0] && (await call(agents.updateAgent, { agentId: one(made), instructions: text() }, as("alice"))),
    async () => made[0] && (await call(agents.deleteAgent, { agentId: made.pop() as string }, as("alice"))),
    async () => {
      const request = { knowledgeBaseId, name: "d", content: text() };
      added.push((await call(documents.createDocument, request, as("alice"))).document!.id);
    },
    async () =>
      added[0] && (await call(documents.updateDocument, { documentId: one(added), content: text() }, as("alice"))),
    async () => added[0] && (await call(documents.deleteDocument, { documentId: added.pop() as string }, as("alice"))),
    async () => {
      for await (const _ of rig.dispatch.stream(
        RunService.method.triggerRun,
        { agentId: agent!.id, input: text() },
        as("alice"),
      ));
    },
  ];
  for (let n = 0; n < 150; n++) await acts[Math.floor(Math.random() * acts.length)]!();
  // Documents are read in the background, and the deployment is counted after the owner.
  const alices = await vi.waitFor(
    async () => {
      const own = rig.store.collection<DocumentRecord>("knowledge_documents").find({ owner: "alice" });
      expect((await own.toArray()).filter(({ due }) => due !== null)).toEqual([]);
      const alices = await stored("alice");
      expect(await usage("alice")).toEqual(alices);
      const deployment = await usage("root", { deployment: true });
      expect(deployment["storage of objects and documents"]).toBe(
        alices["storage of objects"] + alices["storage of documents"],
      );
      return alices;
    },
    { timeout: 30_000 },
  );
  expect(await usage("root", { owner: "alice" })).toEqual(alices);
  expect((await refusal(usage("alice", { deployment: true }))).join()).toContain("only administrators");
  expect((await refusal(usage("bob", { owner: "alice" }))).join()).toContain("only administrators");
});

test("those who write at the same time never store more than one of them may, nor more than the deployment", async () => {
  rig = await startRig();
  const rooms = rig.store.collection<RoomRecord>("object_room");
  const quota = { ...OBJECT_QUOTA, bytes: 10_000, knowledge: 20_000, deployment: 40_000 };
  const room = createRoom(rooms, quota);
  const kept = new Map<string, number>();
  const full = (error: unknown) => expect(ConnectError.from(error).code).toBe(Code.ResourceExhausted);
  await Promise.all(
    Array.from({ length: 400 }, async (_, n) => {
      const [owner, bytes] = [`user-${n % 3}`, 1 + Math.floor(Math.random() * 3_000)];
      const what = n % 2 === 0 ? ("take" as const) : ("takeKnowledge" as const);
      try {
        await room[what](owner, 1, bytes);
      } catch (error) {
        return full(error);
      }
      const key = `${owner} ${what}`;
      kept.set(key, (kept.get(key) ?? 0) + bytes);
      expect(kept.get(key)).toBeLessThanOrEqual(what === "take" ? quota.bytes : quota.knowledge);
      expect([...kept.values()].reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(quota.deployment);
      if (Math.random() < 0.3) {
        kept.set(key, (kept.get(key) as number) - bytes);
        await room[what](owner, -1, -bytes);
      }
    }),
  );
  const all = await room.of("deployment");
  expect(all.bytes + all.knowledge).toBe([...kept.values()].reduce((sum, one) => sum + one, 0));
});

test("what a process left counted that ended before it wrote is given back", async () => {
  rig = await startRig({ knowledge: { embedders: plainEmbedders(), pollMs: 20 } });
  await call(agents.createAgent, { name: "One" }, as("alice"));
  const rooms = rig.store.collection<RoomRecord>("object_room");
  await createRoom(rooms, OBJECT_QUOTA).take("alice", 3, 5_000);
  const parts = {
    rooms,
    objects: ["agents", "knowledge_bases"].map((name) => rig.store.collection<ObjectRecord>(name)),
    documents: rig.store.collection<DocumentRecord>("knowledge_documents"),
    blocks: rig.store.collection<BlockRecord>("knowledge_blocks"),
    sources: rig.store.collection<SourceRecord>("knowledge_sources"),
  };
  const { knowledgeBase } = await call(KnowledgeBaseService.method.createKnowledgeBase, { name: "kb" }, as("alice"));
  const { document } = await call(
    documents.createDocument,
    { knowledgeBaseId: knowledgeBase!.id, name: "One", content: "One." },
    as("alice"),
  );
  await vi.waitFor(
    async () =>
      expect(await parts.documents.countDocuments({ knowledge_base: knowledgeBase!.id, state: "ready" })).toBe(1),
    {
      timeout: 30_000,
    },
  );
  const [own] = await parts.sources.find({ document: document!.id }).toArray();
  await parts.sources.insertOne({ ...own!, _id: uuid(), version: 2 });
  expect(await recountOne(parts)).toBe(false);
  expect(await recountOne(parts, new Date(Date.now() + 120_000))).toBe(true);
  // Of a text that is young the record may follow yet.
  expect(await parts.sources.countDocuments({})).toBe(2);
  expect(await recountOne(parts, new Date(Date.now() + 2 * 86_400_000))).toBe(true);
  expect((await parts.sources.find({}).toArray()).map(({ _id }) => _id)).toEqual([own!._id]);
  const {
    "objects and documents": count,
    "storage of objects": bytes,
    "storage of documents": texts,
  } = await stored("alice");
  expect(await usage("alice")).toMatchObject({ "objects and documents": count, "storage of objects": bytes });
  expect((await usage("root", { deployment: true }))["storage of objects and documents"]).toBe(bytes + texts);
});

test("the objects and documents of a store from before anybody counted are counted when it is opened", async () => {
  const folder = await mkdtemp(join(tmpdir(), "usage-"));
  const knowledge = { embedders: plainEmbedders(), pollMs: 20 };
  rig = await startRig({ folder, knowledge });
  await call(agents.createAgent, { name: "One", instructions: "words ".repeat(500) }, as("alice"));
  await call(agents.createAgent, { name: "Two" }, as("bob"));
  const { knowledgeBase } = await call(KnowledgeBaseService.method.createKnowledgeBase, { name: "kb" }, as("alice"));
  for (const name of ["a", "b"]) {
    const content = `${name} text. `.repeat(300);
    await call(documents.createDocument, { knowledgeBaseId: knowledgeBase!.id, name, content }, as("alice"));
  }
  const made = { knowledge_base: knowledgeBase!.id, state: "ready" as const };
  const ready = () => rig.store.collection<DocumentRecord>("knowledge_documents").countDocuments(made);
  await vi.waitFor(async () => expect(await ready()).toBe(2), { timeout: 30_000 });
  await vi.waitFor(async () => expect(await usage("alice")).toEqual(await stored("alice")), { timeout: 30_000 });
  const [alices, bobs, all] = [await usage("alice"), await usage("bob"), await usage("root", { deployment: true })];
  const { store: older } = rig;
  await older.collection("object_room").deleteMany({});
  for (const name of ["agents", "knowledge_bases"])
    await older.collection(name).updateMany({ owner: { $gt: "" } } as never, { $unset: { taken: true } } as never);
  await older
    .collection("knowledge_documents")
    .updateMany({ owner: { $gt: "" } } as never, { $unset: { held: true } } as never);
  await rig.close();

  rig = await startRig({ folder, knowledge });
  expect(await usage("alice")).toEqual(alices);
  expect(await usage("bob")).toEqual(bobs);
  expect(await usage("root", { deployment: true })).toEqual(all);
  // What was counted once is kept: another start changes nothing.
  await rig.close();
  rig = await startRig({ folder, knowledge });
  expect(await usage("alice")).toEqual(alices);
  await rm(folder, { recursive: true, force: true });
});
