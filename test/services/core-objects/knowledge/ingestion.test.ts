import { afterEach, expect, test, vi } from "vitest";
import { DocumentService } from "#proto/core/v1/document_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import type { ObjectQuota } from "../../../../services/core-objects/room.js";
import { refusal } from "../refusal.js";
import { as, type Rig, startRig } from "../rig.js";
import { plainEmbedders } from "./plain-embedder.js";

const { createKnowledgeBase } = KnowledgeBaseService.method;
const { createDocument, deleteDocument } = DocumentService.method;

let rig: Rig;
/** The documents in the order in which they were embedded. */
let order: string[];
let release: () => void;
async function start(quota?: Partial<ObjectQuota>): Promise<void> {
  order = [];
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const embedders = plainEmbedders(async ([text]) => {
    order.push(text!.split("\n")[0]!);
    await held;
  });
  rig = await startRig({ knowledge: { embedders, pollMs: 20, atOnce: 1 }, ...(quota && { quota }) });
}
afterEach(() => rig.close());

async function base(who: string, companyManaged = false): Promise<string> {
  return (await rig.dispatch.unary(createKnowledgeBase, { name: "kb", companyManaged }, as(who))).knowledgeBase!.id;
}
async function add(knowledgeBaseId: string, name: string, who: string): Promise<string> {
  return (await rig.dispatch.unary(createDocument, { knowledgeBaseId, name, content: "Text." }, as(who))).document!.id;
}

test("owners take turns: who adds many documents keeps nobody else waiting", async () => {
  await start();
  const [alices, bobs, company] = [await base("alice"), await base("bob"), await base("root", true)];
  for (let i = 0; i < 8; i++) await add(alices, `alice ${i}`, "alice");
  for (let i = 0; i < 3; i++) await add(bobs, `bob ${i}`, "bob");
  await add(company, "company", "root");
  release();
  await vi.waitFor(() => expect(order).toHaveLength(12), { timeout: 10_000 });
  expect(order.map((name) => name.split(" ")[0])).toEqual([
    ...["alice", "bob", "company", "alice", "bob", "alice", "bob"],
    ...Array(5).fill("alice"),
  ]);
  expect(order.filter((name) => name.startsWith("alice"))).toEqual(Array.from({ length: 8 }, (_, i) => `alice ${i}`));
});

test("documents that nobody owns have room together, as those of one user do", async () => {
  // The two knowledge bases are among them.
  await start({ objects: 5, bytes: 50_000 });
  release();
  const [one, other] = [await base("root", true), await base("root", true)];
  const first = await add(one, "1", "root");
  await add(one, "2", "root");
  await add(other, "3", "root");
  expect((await refusal(add(other, "4", "root"))).join()).toMatch(/^ResourceExhausted.* at most 5 /);
  await add(await base("alice"), "hers", "alice");
  await rig.dispatch.unary(deleteDocument, { documentId: first }, as("root"));
  await vi.waitFor(() => add(other, "4", "root"), { timeout: 10_000 });
});

test("a short document waits for no long one, whoever added those", async () => {
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const done: string[] = [];
  const embedders = plainEmbedders(async ([text]) => {
    const name = text!.split("\n")[0]!;
    if (name.startsWith("long")) await held;
    done.push(name);
  });
  rig = await startRig({ knowledge: { embedders, pollMs: 20, atOnce: 4 } });
  const [alices, bobs] = [await base("alice"), await base("bob")];
  const long = "A long paragraph of one of them. ".repeat(9_000);
  for (const [knowledgeBaseId, who] of [
    [alices, "alice"],
    [bobs, "bob"],
  ] as const)
    for (let i = 0; i < 4; i++)
      await rig.dispatch.unary(createDocument, { knowledgeBaseId, name: `long ${i}`, content: long }, as(who));
  await add(alices, "short of alice", "alice");
  await add(bobs, "short of bob", "bob");
  await vi.waitFor(() => expect([...done].sort()).toEqual(["short of alice", "short of bob"]), { timeout: 20_000 });
  release();
});
