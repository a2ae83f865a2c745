import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Ranker } from "../../../../services/core-objects/knowledge/apart/ranker.js";
import { createBuiltInEmbedder } from "../../../../services/core-objects/knowledge/built-in-embedder.js";
import { LEXICAL_WEIGHT } from "../../../../services/core-objects/knowledge/knowledge.js";
import { packedTerms } from "../../../../services/core-objects/knowledge/packed-terms.js";
import { createProcesses } from "../../../../services/shared/process/processes.js";
import { intervalOf, mean } from "../../../support/interval.js";
import { type Asked, MIXED, NATURAL, PARAPHRASED, PASSAGES } from "./corpus.js";

const processes = createProcesses();
const embedder = createBuiltInEmbedder(processes);
const ranker = new Ranker();
const NAMES = Object.keys(PASSAGES);
const QUESTIONS: readonly Asked[] = [...NATURAL, ...PARAPHRASED, ...MIXED];
const vectors = new Map<string, Float32Array>();

const never = new AbortController().signal;

beforeAll(async () => {
  const texts = Object.values(PASSAGES);
  const found = await embedder.embed(texts, never);
  for (const [i, document] of NAMES.entries()) {
    const passages = [{ text: texts[i]!, headings: [] }];
    const terms = [packedTerms(passages)];
    const put = { document, name: "", generation: 1, embedder: embedder.id, passages: 1, terms, vectors: found[i]! };
    ranker.put("base", put);
  }
  const asked = await embedder.embed(
    QUESTIONS.map(([question]) => question),
    never,
  );
  for (const [i, [question]] of QUESTIONS.entries()) vectors.set(question, asked[i]!);
});
afterAll(() => processes.close());

/** One over the place of the answer, by question. */
function reciprocalRanks(questions: readonly Asked[], lexicalWeight: number): number[] {
  return questions.map(([query, answer]) => {
    const question = { query, bases: ["base"], limit: NAMES.length, lexicalWeight };
    const hits = ranker.rank({ ...question, vectors: { [embedder.id]: vectors.get(query)! } });
    const scored = hits.filter(({ score }) => score > 0);
    const place = scored.findIndex(({ document }) => document === answer);
    return place < 0 ? 0 : 1 / (place + 1);
  });
}

test("words and meaning together are certainly no worse than either alone", () => {
  const table = Object.entries({ words: 1, meaning: 0, together: LEXICAL_WEIGHT }).map(([how, weight]) => {
    const ranks = reciprocalRanks(QUESTIONS, weight);
    const parts = [NATURAL, PARAPHRASED, MIXED].map((some) => mean(reciprocalRanks(some, weight)));
    return { how, ranks, mrr: mean(ranks), interval: intervalOf(ranks), parts };
  });
  const [words, meaning, together] = table as [(typeof table)[0], (typeof table)[0], (typeof table)[0]];
  // The gain of each question, drawn anew as pairs: what 95 of 100 draws lie between leaves out that it is worse.
  const over = (other: readonly number[]) => intervalOf(together.ranks.map((rank, i) => rank - other[i]!));
  const gains = { words: over(words.ranks), meaning: over(meaning.ranks) };
  expect(gains.words[0]).toBeGreaterThanOrEqual(0);
  expect(gains.meaning[0]).toBeGreaterThanOrEqual(0);
  const file = process.env.RETRIEVAL_TABLE;
  if (file !== undefined)
    writeFileSync(file, JSON.stringify({ table: table.map(({ ranks: _, ...row }) => row), gains }));
});
