import { expect, test } from "vitest";
import { type Candidate, fused } from "../../../../services/core-objects/knowledge/fused.js";

const candidate = (position: number, words: number, more: Partial<Candidate> = {}): Candidate => ({
  ...{ base: "b", document: "d", generation: 1, position, words, meaning: 0, isExact: false, ...more },
});
const found = (candidates: readonly Candidate[], limit: number, lexicalWeight = 1) =>
  fused(candidates, { limit, lexicalWeight }).map(({ position }) => position);

test("the best come first, words and meaning by their weights", () => {
  expect(found([candidate(0, 0.2), candidate(1, 0.9), candidate(2, 0.5)], 10)).toEqual([1, 2, 0]);
  expect(found([candidate(0, 0.5), candidate(1, 0, { meaning: 1 })], 10, 0.2)).toEqual([1, 0]);
});

test("a passage with a rare name as a whole is among the hits, in the place of the worst of the others", () => {
  const better = [0, 1, 2, 3].map((position) => candidate(position, 0.9 - position / 100));
  expect(found([...better, candidate(9, 0.1, { isExact: true })], 3)).toEqual([0, 1, 9]);
});

test("of many such passages half of the places go to those that would be left out", () => {
  const better = [0, 1, 2, 3].map((position) => candidate(position, 0.9 - position / 100));
  const exact = [10, 11, 12, 13].map((position) => candidate(position, 0.1, { isExact: true }));
  expect(found([...better, ...exact], 4)).toEqual([0, 1, 10, 11]);
});
