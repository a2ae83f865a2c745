// What a search of knowledge takes among 20,000 passages: `tsx
// --conditions=house:source test/bench/knowledge.ts`, with BENCH_PASSAGES of
// them. Through everything but a socket, with the built-in model.

import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { PASSAGES } from "../services/core-objects/knowledge/corpus.js";
import { as, startRig } from "../services/core-objects/rig.js";
import { fill } from "./fill-knowledge.js";

const COUNT = Number(process.env.BENCH_PASSAGES ?? 20_000);
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

// Threads keep no process alive by themselves.
const alive = setInterval(() => {}, 1_000);
const { first, p50, p95 } = await searchTimes(COUNT);
clearInterval(alive);
const said = `${COUNT} passages: ${p50.toFixed(1)} ms at the median, ${p95.toFixed(1)} at the 95th percentile`;
process.stdout.write(`${said}; the first search, which reads them, ${(first / 1_000).toFixed(1)} s\n`);
