import { expect, test } from "vitest";
import { indexClass } from "../../../../services/core-objects/knowledge/apart/index-class.js";
import { Ranker } from "../../../../services/core-objects/knowledge/apart/ranker.js";
import { packedTerms } from "../../../../services/core-objects/knowledge/packed-terms.js";
import { randomOf } from "../../../support/random.js";
import { vectorOf } from "./plain-embedder.js";

const WORDS = "beacon lateral phishing kernel ransom token cloud mail audit patch logs domain".split(" ");

let random = randomOf(1);
const pick = (): string => WORDS[Math.floor(random() * WORDS.length)]!;
const textOf = (words: number): string => Array.from({ length: words }, pick).join(" ");

/** With documents of 20 passages, of which every third is put anew. */
function filled(ranker: Ranker): Ranker {
  random = randomOf(1);
  for (let d = 0; d < 90; d++) {
    const [base, document] = [`b${d % 3}`, `d${d % 3 === 2 ? d % 60 : d}`];
    const passages = Array.from({ length: 20 }, () => ({ text: textOf(9), headings: [] }));
    const vectors = new Float32Array(20 * 64);
    for (const [i, { text }] of passages.entries()) vectors.set(vectorOf(text), i * 64);
    ranker.put(base, {
      ...{ document, name: "", generation: d, embedder: "plain", vectors },
      ...{ passages: passages.length, terms: [packedTerms(passages)] },
    });
  }
  ranker.remove("b1", "d1");
  return ranker;
}

test("what an index finds is what comparing each finds, among what may be seen alone", () => {
  const exact = filled(new Ranker());
  const indexed = filled(new Ranker(indexClass(), 300));
  let [same, asked] = [0, 0];
  for (let i = 0; i < 60; i++) {
    const query = textOf(3);
    const bases = [["b0", "b1", "b2"], ["b0", "b1"], ["b2"]][i % 3]!;
    const documents = i % 4 === 3 ? ["d0", "d2", "d3", "d1"] : undefined;
    const question = { query, vectors: { plain: vectorOf(query) }, bases, documents, limit: 6, lexicalWeight: 0.25 };
    const [expected, found] = [exact.rank(question), indexed.rank(question)];
    expect(found).toHaveLength(6);
    expect(found.filter(({ base }) => !bases.includes(base))).toEqual([]);
    expect(found.filter(({ document }) => documents?.includes(document) === false || document === "d1")).toEqual([]);
    const places = new Set(expected.map(({ document, position }) => `${document} ${position}`));
    same += found.filter(({ document, position }) => places.has(`${document} ${position}`)).length;
    asked += 6;
    // Half of the questions meet indexes that are not complete.
    if (i === 30) while (indexed.grow());
  }
  expect(same / asked).toBeGreaterThan(0.95);
});

test("what another engine found takes the place of what would be looked for, without what is not served", () => {
  const ranker = filled(new Ranker());
  const vector = vectorOf("beacon");
  const near = [
    { document: "d0", generation: 0, position: 3, score: 9 },
    { document: "d3", generation: 2, position: 1, score: 9 },
    { document: "gone", generation: 0, position: 0, score: 9 },
    { document: "d6", generation: 6, position: 20, score: 9 },
  ];
  const found = [{ base: "b0", embedder: "plain", near }];
  const question = { query: "zzz", vectors: { plain: vector }, bases: ["b0"], limit: 6, lexicalWeight: 0.25, found };
  const [hit, ...others] = ranker.rank(question);
  expect(others).toEqual([]);
  expect(hit).toMatchObject({ document: "d0", generation: 0, position: 3 });
  // Merits are what they are: 0.75 of a whole one, or of a cosine that by itself is less than any word.
  expect(hit?.score).toBeLessThanOrEqual(0.75);
});

test("what is staged is found when it is put, in the place of the version before, and its vectors when they are added", () => {
  const ranker = new Ranker();
  const block = (word: string) => packedTerms([{ text: `The ${word} answer`, headings: [] }]);
  const one = { document: "d", name: "D", embedder: "", vectors: new Float32Array(0) };
  ranker.put("b", { ...one, generation: 1, passages: 1, terms: [block("old")] });
  const found = (query: string, vectors = {}) =>
    ranker
      .rank({ query, vectors, bases: ["b"], limit: 10, lexicalWeight: 0.8 })
      .map(({ generation, position }) => `${generation} ${position}`);
  ranker.stage("b", { document: "d", name: "D", terms: [block("new"), block("newer")], isFirst: true });
  expect([found("answer"), found("newer")]).toEqual([["1 0"], []]);
  ranker.put("b", { ...one, generation: 2, passages: 3, terms: [block("newest")], isStaged: true });
  expect([found("answer").sort(), found("newer"), found("old")]).toEqual([["2 0", "2 1", "2 2"], ["2 1"], []]);
  // Vectors of another generation, and those of what is not there, are nobody's.
  const vectors = Float32Array.from([1, 0, 0, 1, 1, 0]);
  const asked = { m: Float32Array.from([0, 1]) };
  ranker.embed("b", { document: "d", generation: 1, embedder: "m", vectors, dimensions: 2 });
  ranker.embed("b", { document: "x", generation: 2, embedder: "m", vectors, dimensions: 2 });
  expect(found("nothing", asked)).toEqual([]);
  ranker.embed("b", { document: "d", generation: 2, embedder: "m", vectors, dimensions: 2 });
  expect(found("nothing", asked)[0]).toBe("2 1");
  ranker.stage("b", { document: "d", name: "D", terms: [block("last")], isFirst: true });
  ranker.unstage("b", "d");
  ranker.put("b", { ...one, generation: 3, passages: 1, terms: [block("third")] });
  expect([found("last"), found("third"), found("nothing", asked)]).toEqual([[], ["3 0"], []]);
});
