import { expect, test } from "vitest";
import { matcherOf } from "../../../../../services/shared/store/embedded/matcher.js";
import { queryOf } from "../../../../../services/shared/store/embedded/mingo.js";

// What is compared directly has the same answer as from the library that knows all operators.

const VALUES = [
  ...["a", "A thing", "", "a.b", 1, 0, true, false, null, undefined, new Date(5), new Date(50)],
  ...[[], ["a", "b"], ["A thing", 1], [new Date(5), new Date(50)], { a: 1 }],
];
const CONDITIONS = [
  ...["a", "", 1, true, false],
  ...[{ $in: ["a", "z"] }, { $in: [] }, { $in: ["a", null] }, { $gt: new Date(7) }, { $gt: 0 }],
  ...[{ $regex: "A\\.?", $options: "i" }, { $regex: "thing" }, { $regex: "^a$", $options: "i" }, { $ne: "a" }],
  ...[null, ["a", "b"], new Date(5), { $all: ["a"] }, { $exists: true }],
];

test("a condition on a field, and all or one of several", () => {
  let matched = 0;
  for (const x of VALUES) {
    for (const first of CONDITIONS) {
      for (const y of ["a", ["a"], 1]) {
        for (const filter of [
          { x: first },
          { x: first, y: "a" },
          { $and: [{ x: first }, { y: "a" }] },
          { $or: [{ x: first }, { y: { $in: ["a"] } }] },
          { $and: [{ y: "a" }, { $or: [{ x: first }, { missing: "a" }] }] },
        ]) {
          const document = { _id: "1", ...(x !== undefined && { x }), y };
          const expected = queryOf(filter).test(document);
          matched += expected ? 1 : 0;
          expect(matcherOf(filter)(document), JSON.stringify([filter, document])).toBe(expected);
        }
      }
    }
  }
  expect(matched).toBeGreaterThan(500);
});
