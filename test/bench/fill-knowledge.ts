import { BUILT_IN } from "../../services/core-objects/knowledge/built-in-embedder.js";
import { packedTerms } from "../../services/core-objects/knowledge/packed-terms.js";
import {
  BLOCK,
  type BlockRecord,
  blockIdOf,
  type DocumentRecord,
} from "../../services/core-objects/knowledge/records.js";
import { PASSAGES } from "../services/core-objects/knowledge/corpus.js";
import type { Rig } from "../services/core-objects/rig.js";
import { randomOf } from "../support/random.js";

const DIMENSIONS = 512;
const PASSAGES_OF_ONE = 20;

/** Fills a knowledge base with so many passages of random words and vectors, as ready documents. */
export async function fill(store: Rig["store"], base: string, passages: number): Promise<void> {
  const documents = store.collection<DocumentRecord>("knowledge_documents");
  const blocks = store.collection<BlockRecord>("knowledge_blocks");
  const words = Object.values(PASSAGES).flatMap((text) => text.split(/\s+/));
  const random = randomOf(1);
  const writing: Promise<unknown>[] = [];
  for (let d = 0; d * PASSAGES_OF_ONE < passages; d++) {
    if (writing.length > 200) await Promise.all(writing.splice(0));
    const _id = `d${d}`;
    const serving = { generation: 1, version: 1, passages: PASSAGES_OF_ONE, embedder: BUILT_IN };
    const at = new Date();
    const document = documents.insertOne({
      ...{ _id, knowledge_base: base, owner: "alice", name: `Document ${d}`, type: "text", version: 1, source: "" },
      ...{ bytes: 0, generation: 1, serving, state: "ready", problem: "", due: null, claim: "", attempts: 0, total: 0 },
      ...{ done: 0, etag: "", request: _id, created_at: at, updated_at: at },
    });
    writing.push(document);
    for (let n = 0; n * BLOCK < PASSAGES_OF_ONE; n++) {
      const count = Math.min(BLOCK, PASSAGES_OF_ONE - n * BLOCK);
      const vectors = new Float32Array(count * DIMENSIONS).map(() => (random() - 0.5) / 6.5);
      const some = Array.from({ length: count }, () => ({
        text: Array.from({ length: 120 }, () => words[Math.floor(random() * words.length)]!).join(" "),
        ...{ headings: [], start: 0, end: 0 },
      }));
      const block = { document: _id, generation: 1, n, passages: some, dimensions: DIMENSIONS };
      const terms = packedTerms(some);
      const one = { _id: blockIdOf(_id, 1, n), ...block, terms, vectors: new Uint8Array(vectors.buffer) };
      writing.push(blocks.insertOne(one));
    }
  }
  await Promise.all(writing);
}
