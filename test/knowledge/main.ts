// How well words find what answers a question in documents that others wrote:
// `npm run -s measure:knowledge FOLDER`, with the folder that fetch.sh filled.
// These questions were in sight while the search was made. `measure:knowledge FOLDER held-out` and
// `measure:knowledge FOLDER packages` ask others, of other documents: nothing is chosen with them.

import { intervalOf, mean } from "../support/interval.js";
import { DEPTH, ours, plain, type Ranking, stemmed } from "./rankings.js";
import { answersOf, passagesIn, type Question, setOf } from "./set.js";

const folder = process.argv[2];
if (folder === undefined) throw new Error("name the folder that test/knowledge/fetch.sh filled");
const set = setOf(process.argv[3]);
const { questions } = set;
const passages = passagesIn(folder, set);
const answers = questions.map((one) => answersOf(one, passages));

function reciprocalRanks(rank: Ranking): number[] {
  return questions.map((question, i) => {
    const place = rank(question)
      .slice(0, DEPTH)
      .findIndex((number) => answers[i]!.has(number));
    return place < 0 ? 0 : 1 / (place + 1);
  });
}

const valuesOf = <T>(of: (question: Question) => T): T[] => [...new Set(questions.map(of))];
const GROUPS: Readonly<Record<string, (question: Question, i: number) => boolean>> = {
  all: () => true,
  "every second": (_, i) => i % 2 === 1,
  "without exact terms": ({ kind }) => kind !== "exact term" && kind !== "error message",
  ...Object.fromEntries(
    valuesOf(({ language }) => language).map((one) => [one, ({ language }: Question) => language === one]),
  ),
  ...Object.fromEntries(valuesOf(({ kind }) => kind).map((one) => [one, ({ kind }: Question) => kind === one])),
  "ja, not questions": ({ language, kind }) => language === "ja" && kind !== "question",
};

const [own, bare, stems] = [ours(passages), plain(passages), stemmed(passages)].map(reciprocalRanks);
process.stdout.write(`${passages.length} passages, ${questions.length} questions\n\n`);
process.stdout.write("| MRR@10 | questions | ours | BM25 | BM25, stems | gain over BM25 | over BM25, stems |\n");
process.stdout.write("| --- | --- | --- | --- | --- | --- | --- |\n");
for (const [name, isIn] of Object.entries(GROUPS)) {
  const here = questions.flatMap((question, i) => (isIn(question, i) ? [i] : []));
  const of = (ranks: readonly number[]): number[] => here.map((i) => ranks[i]!);
  const gain = (ranks: readonly number[]): string =>
    intervalOf(here.map((i) => own![i]! - ranks[i]!))
      .map((one) => one.toFixed(3))
      .join(" to ");
  const means = [own!, bare!, stems!].map((ranks) => mean(of(ranks)).toFixed(3)).join(" | ");
  process.stdout.write(`| ${name} | ${here.length} | ${means} | ${gain(bare!)} | ${gain(stems!)} |\n`);
}
