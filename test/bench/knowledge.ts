// What a search of knowledge takes among 20,000 passages: `tsx
// --conditions=house:source test/bench/knowledge.ts`, with BENCH_PASSAGES of
// them. Through everything but a socket, with the built-in model.

import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { BUILT_IN } from "../../services/core-objects/knowledge/built-in-embedder.js";
import { packedTerms } from "../../services/core-objects/knowledge/packed-terms.js";
import {
  BLOCK,
  type BlockRecord,
  blockIdOf,
  type DocumentRecord,
} from "../../services/core-objects/knowledge/records.js";
import { PASSAGES } from "../services/core-objects/knowledge/corpus.js";
import { as, startRig } from "../services/core-objects/rig.js";

const COUNT = Number(process.env.BENCH_PASSAGES ?? 20_000);
const DIMENSIONS = 512;
const PASSAGES_OF_ONE = 20;
const QUERIES = 100;

/** In milliseconds. */
interface SearchTimes {
  readonly first: number;
  readonly p50: number;
  readonly p95: number;
}

async function searchTimes(passages: number): Promise<SearchTimes> {
  const rig = await startRig();
  const { createKnowledgeBase, searchKnowledge } = KnowledgeBaseService.method;
  const made = await rig.dispatch.unary(createKnowledgeBase, { name: "kb" }, as("alice"));
  await fill(rig.store, made.knowledgeBase!.id, passages);
  const search = async (query: string): Promise<number> => {
    const since = performance.now();
    const { passages: found } = await rig.dispatch.unary(searchKnowledge, { query }, as("alice"));
    if (found.length === 0) throw new Error(`nothing was found for ${query}`);
    return performance.now() - since;
  };
  const first = await search("anything");
  const times: number[] = [];
  const sentences = Object.values(PASSAGES);
  for (let i = 0; i < QUERIES; i++) {
    const words = sentences[i % sentences.length]!.split(" ");
    times.push(await search(words.slice(i % 5, (i % 5) + 9).join(" ")));
  }
  await rig.close();
  times.sort((a, b) => a - b);
  return { first, p50: times[QUERIES / 2]!, p95: times[Math.floor(QUERIES * 0.95)]! };
}

async function fill(
  store: Awaited<ReturnType<typeof startRig>>["store"],
  base: string,
  passages: number,
): Promise<void> {
  const documents = store.collection<DocumentRecord>("knowledge_documents");
  const blocks = store.collection<BlockRecord>("knowledge_blocks");
  const words = Object.values(PASSAGES).flatMap((text) => text.split(/\s+/));
  let seed = 1;
  const random = (): number => {
    seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
    return seed / 2 ** 31;
  };
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

// Threads keep no process alive by themselves.
const alive = setInterval(() => {}, 1_000);
const { first, p50, p95 } = await searchTimes(COUNT);
clearInterval(alive);
const said = `${COUNT} passages: ${p50.toFixed(1)} ms at the median, ${p95.toFixed(1)} at the 95th percentile`;
process.stdout.write(`${said}; the first search, which reads them, ${(first / 1_000).toFixed(1)} s\n`);
