import { describe, expect, test } from "vitest";
import { comparisonOf } from "../../../../services/sandbox/cti/comparisons.js";

const compare = (operator: string, values: readonly unknown[]) => comparisonOf(operator, values, { key: ["name"] });

describe("texts are compared in lower case and without accents", () => {
  test.each([
    ["eq", ["CAFÉ"], ["cafe"], true],
    ["eq", ["cafe"], ["cafes"], false],
    ["contains", ["É"], ["cafe"], true],
    ["starts_with", ["CA"], ["Café"], true],
    ["ends_with", ["fE"], ["Café"], true],
    ["match", ["tea café"], ["the cafe"], true],
    ["match", ["tea"], ["the cafe"], false],
    ["wildcard", ["c*E"], ["Café"], true],
    ["search", ["caf"], ["cafe"], true],
    ["search", ["tea"], ["cafe"], false],
    ["not_eq", ["cafe"], ["Café"], false],
  ])("%s %j, of %j, is %s", (operator, wanted, own, holds) => {
    expect(compare(operator, wanted)(own, false)).toBe(holds);
  });
});

test("every wanted value has to fit if all are asked for, and one otherwise", () => {
  const fits = compare("contains", ["a", "b"]);
  expect(fits(["a"], false)).toBe(true);
  expect(fits(["a"], true)).toBe(false);
  expect(fits(["a", "b"], true)).toBe(true);
});

test("a value of more than 512 characters is not found: the engine does not index it", () => {
  expect(compare("contains", ["a"])(["a".repeat(512)], false)).toBe(true);
  expect(compare("contains", ["a"])(["a".repeat(513)], false)).toBe(false);
});

// Otherwise 2,500 long values against 10,000 objects keep the built-in platform for seconds.
test.each(["eq", "contains", "match", "wildcard", "search"])(
  "the wanted values of %s are read once, not for each object",
  (operator) => {
    let read = 0;
    const wanted = {
      toString() {
        read++;
        return "Café";
      },
    };
    const fits = compare(operator, [wanted]);
    for (let n = 0; n < 100; n++) fits(["tea"], false);
    expect(read).toBe(1);
  },
);
