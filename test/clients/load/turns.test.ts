import fc from "fast-check";
import { expect, test } from "vitest";
import { createTurns } from "../../../clients/load/turns.js";

test("each is taken as often as its weight says, in every round", () => {
  const weights = fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(
      weights.filter((some) => some.some((weight) => weight > 0)),
      (some) => {
        const next = createTurns(some.map((weight, i) => [i, weight] as const));
        const round = some.reduce((sum, weight) => sum + weight, 0);
        for (let again = 0; again < 3; again++) {
          const counts = some.map(() => 0);
          for (let i = 0; i < round; i++) counts[next()]!++;
          expect(counts).toEqual(some);
        }
      },
    ),
  );
});

test("they are spread, not bunched", () => {
  const next = createTurns([
    ["a", 1],
    ["b", 3],
  ]);
  expect(Array.from({ length: 8 }, next).join("")).not.toMatch(/bbbb/);
});

test("weights of 0 alone are refused", () => {
  expect(() => createTurns([["a", 0]])).toThrow("no weight is above 0");
});
