import fc from "fast-check";
import { update } from "mingo/updater";
import { expect, test } from "vitest";
import { updated } from "../../../../../services/shared/store/embedded/update.js";

const value = fc.oneof(
  fc.integer(),
  fc.double(),
  fc.string(),
  fc.date({ noInvalidDate: true }),
  fc.boolean(),
  fc.constant(null),
  fc.array(fc.integer(), { maxLength: 2 }),
);
const name = fc.constantFrom("a", "b", "c");
const record = fc.dictionary(name, value, { noNullPrototype: true });

test("what is applied directly comes to what mingo makes of it", () => {
  fc.assert(
    fc.property(record, record, fc.constantFrom("$min", "$max", "$set"), (before, fields, operator) => {
      const [own, theirs] = [
        { _id: "1", ...before },
        { _id: "1", ...before },
      ];
      if (Object.keys(fields).length > 0) update(theirs, { [operator]: fields }, [], {}, { cloneMode: "none" });
      expect(updated(own, { [operator]: fields }, { filter: {} })).toEqual(theirs);
    }),
    { numRuns: 2_000 },
  );
});

test("numbers are added to directly, and what is no number stays", () => {
  const added = fc.dictionary(name, fc.integer(), { noNullPrototype: true, minKeys: 1 });
  fc.assert(
    fc.property(record, added, (before, fields) => {
      const [own, theirs] = [
        { _id: "1", ...before },
        { _id: "1", ...before },
      ];
      update(theirs, { $inc: fields }, [], {}, { cloneMode: "none" });
      expect(updated(own, { $inc: fields }, { filter: {} })).toEqual(theirs);
    }),
    { numRuns: 2_000 },
  );
});

test("operators of fields and of what is in them are applied together", () => {
  const document = { _id: "1", count: 1, tags: ["a"], inner: { n: 1 } };
  const operators = {
    $inc: { count: 2, "inner.n": 1 },
    $max: { latest: 5 },
    $addToSet: { tags: { $each: ["a", "b"] } },
    $push: { log: { $each: [1, 2, 3], $slice: -2 } },
    $unset: { gone: "" },
  };
  expect(updated(document, operators, { filter: {} })).toEqual({
    ...{ _id: "1", count: 3, inner: { n: 2 }, latest: 5 },
    ...{ tags: ["a", "b"], log: expect.any(Array) },
  });
});
