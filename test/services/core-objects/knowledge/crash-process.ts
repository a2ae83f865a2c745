import { setTimeout as sleep } from "node:timers/promises";
import { DocumentService, DocumentState } from "#proto/core/v1/document_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { as, startRig } from "../rig.js";
import { PASSAGES, textOf, versionsIn } from "./crash-text.js";
import { plainEmbedders } from "./plain-embedder.js";

// A process that makes the documents of a store searchable, revises some, and looks all
// the while at what is found of them, until it is told to stop, or is killed.

const [folder, knowledgeBaseId] = process.argv.slice(2) as [string, string];
const embedders = plainEmbedders(() => sleep(Math.random() * 10));
const rig = await startRig({ folder, knowledge: { embedders, pollMs: 20, leaseMs: 500, firstWaitMs: 20 } });
const { listDocuments, updateDocument } = DocumentService.method;
const { searchKnowledge } = KnowledgeBaseService.method;
const call: typeof rig.dispatch.unary = (...args) => rig.dispatch.unary(...args);

async function documents() {
  return (await call(listDocuments, { knowledgeBaseId, pageSize: 50 }, as("alice"))).documents;
}

/** What is found of a document is all of one version, or nothing yet. */
async function look(documentId: string): Promise<number> {
  const request = { query: "answer", knowledgeBaseIds: [knowledgeBaseId], documentIds: [documentId], limit: 30 };
  const { passages } = await call(searchKnowledge, request, as("alice"));
  const versions = versionsIn(passages);
  const isWhole = passages.length === 0 || (passages.length === PASSAGES && versions.length === 1);
  if (!isWhole) process.send!({ wrong: `${passages.length} passages of the versions ${versions}` });
  return Number(versions[0] ?? 0);
}

let isStopped = false;
process.on("message", () => {
  isStopped = true;
});
process.send!("ready");
for (let n = 0; ; n++) {
  const all = await documents();
  const { id, version } = all[Math.floor(Math.random() * all.length)]!;
  const before = await look(id);
  if ((await look(id)) < before) process.send!({ wrong: `${id} went back from version ${before}` });
  if (!isStopped && n % 5 === 0) {
    const { etag } = all.find((one) => one.id === id)!;
    // Another process may have been faster.
    const request = { documentId: id, etag, content: textOf(version + 1) };
    await call(updateDocument, request, as("alice")).catch(() => undefined);
  }
  if (isStopped && all.every(({ state }) => state === DocumentState.READY)) break;
  await sleep(5);
}
for (const { id, version } of await documents()) {
  const found = await look(id);
  if (found !== version) process.send!({ wrong: `${id} is of version ${version}, and ${found} is found` });
}
await rig.close();
process.exit(0);
