import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test } from "vitest";
import { DocumentService } from "#proto/core/v1/document_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import {
  BLOCKS,
  type BlockRecord,
  DOCUMENTS as COLLECTION,
  type DocumentRecord,
  SOURCES,
  type SourceRecord,
} from "../../../../services/core-objects/knowledge/records.js";
import { openEmbeddedStore } from "../../../../services/shared/store/embedded/embedded.js";
import { titled } from "../../../support/titled.js";
import { as, SEAL_KEYS, startRig } from "../rig.js";
import { PASSAGES, textOf } from "./crash-text.js";
import { plainEmbedders } from "./plain-embedder.js";

// A process makes documents searchable, revises and searches them, and is killed; another
// takes over. One kill here; DOCUMENTS=50 KILLS=30 for as many as one likes.

const DOCUMENTS = Number(process.env.DOCUMENTS ?? 6);
const KILLS = Number(process.env.KILLS ?? 1);

const folder = await mkdtemp(join(tmpdir(), "ingest-"));
afterAll(() => rm(folder, { recursive: true, force: true }));
const other = process.env.MONGODB_URI && "the store is that of MONGODB_URI";

test.skipIf(other)(
  titled("documents whose workers are killed end ready once each, and are never found half old, half new", other),
  async () => {
    const base = await documentsIn(folder);
    const wrong: unknown[] = [];
    for (let kill = 0; ; kill++) {
      const worker = await startWorker(base, wrong);
      const ended = once(worker, "exit");
      if (kill >= KILLS) {
        worker.send("stop");
        expect(await ended).toEqual([0, null]);
        break;
      }
      await sleep(200 + Math.random() * 600);
      worker.kill("SIGKILL");
      expect(await ended).toEqual([null, "SIGKILL"]);
    }
    expect(wrong).toEqual([]);

    const store = await openEmbeddedStore(folder);
    await store.ensure([COLLECTION, BLOCKS, SOURCES]);
    const documents = await store.collection<DocumentRecord>(COLLECTION.name).find({}).toArray();
    const blocks = await store.collection<BlockRecord>(BLOCKS.name).find({}).toArray();
    const sources = await store.collection<SourceRecord>(SOURCES.name).find({}).toArray();
    expect(documents).toHaveLength(DOCUMENTS);
    let unfinished = 0;
    for (const { _id, generation, version, ...document } of documents) {
      expect(document).toMatchObject({ state: "ready", due: null, problem: "", total: PASSAGES, done: PASSAGES });
      expect(document.serving).toMatchObject({ generation, version, passages: PASSAGES });
      const own = blocks.filter((block) => block.document === _id).sort((a, b) => a.n - b.n);
      expect(own.map((block) => [block.generation, block.n, block.passages.length])).toEqual([
        [generation, 0, 16],
        [generation, 1, 8],
      ]);
      // A kill between the text of a revision and its record leaves the text, until the owner is counted again.
      const texts = sources.filter((source) => source.document === _id);
      expect(texts.filter((text) => text.version <= version).map((text) => text._id)).toEqual([document.source]);
      unfinished += texts.filter((text) => text.version > version).length;
    }
    expect(unfinished).toBeLessThanOrEqual(KILLS);
    await store.close();
  },
  240_000,
);

/** A knowledge base with documents of which none is searchable yet. */
async function documentsIn(folder: string): Promise<string> {
  const never = plainEmbedders(() => new Promise(() => {}));
  const rig = await startRig({ folder, knowledge: { embedders: never, leaseMs: 500 } });
  const { createKnowledgeBase } = KnowledgeBaseService.method;
  const { knowledgeBase } = await rig.dispatch.unary(createKnowledgeBase, { name: "kb" }, as("alice"));
  const knowledgeBaseId = knowledgeBase!.id;
  for (let n = 0; n < DOCUMENTS; n++) {
    const request = { knowledgeBaseId, name: `Document ${n}`, content: textOf(1) };
    await rig.dispatch.unary(DocumentService.method.createDocument, request, as("alice"));
  }
  await rig.close();
  return knowledgeBaseId;
}

async function startWorker(base: string, wrong: unknown[]): Promise<ChildProcess> {
  const child = fork(new URL("./crash-process.ts", import.meta.url), [folder, base], {
    execArgv: ["--import", "tsx", "--conditions=house:source"],
    env: { ...process.env, TEST_SEAL_KEYS: SEAL_KEYS },
  });
  const [said] = await Promise.race([once(child, "message"), once(child, "exit")]);
  expect(said).toBe("ready");
  child.on("message", (said) => wrong.push(said));
  return child;
}
