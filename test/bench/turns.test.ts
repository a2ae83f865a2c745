import { expect, test } from "vitest";
import { turnsOf } from "./figures/turns.js";

test("each round has every variant once, and another one first", () => {
  const rounds = [0, 1, 2, 3].map((round) => turnsOf(["a", "b", "c"], round).join(""));
  expect(rounds).toEqual(["abc", "bca", "cab", "abc"]);
  expect(turnsOf([], 1)).toEqual([]);
});
