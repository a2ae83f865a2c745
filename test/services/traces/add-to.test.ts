import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Base } from "../../../services/shared/store/store.js";
import { type Addition, addTo } from "../../../services/traces/add-to.js";
import { type Rig, startRig } from "../core-objects/rig.js";

// A document that is inserted is the one that an update would make of nothing, and what is added twice is there once.

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
  await rig.store.ensure([{ name: "added", indexes: [] }]);
});
afterAll(() => rig.close());

const names = fc.uniqueArray(fc.constantFrom("a", "b", "c"), { maxLength: 3 });
const addition = fc.record({ number: fc.integer({ min: 0, max: 9 }), names, isFirst: fc.boolean() });

let count = 0;

test("documents are begun and added to alike, whoever knows that they are there", () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.tuple(addition, fc.boolean()), { minLength: 1, maxLength: 4 }), async (all) => {
      const added = rig.store.collection<Base & { readonly done: readonly string[] }>("added");
      const [one, other] = [`${++count}.one`, `${count}.other`];
      const additionOf = (_id: string, n: number, isThere: boolean): Addition => {
        const [{ number, names: $each, isFirst }] = all[n]!;
        return {
          ...{ _id, isThere, guard: { done: { $ne: `d${n}` } } },
          update: {
            $setOnInsert: { begun: number, ...(isFirst && { only: true }) },
            ...(isFirst && { $set: { set: number } }),
            $min: { least: number },
            $max: { most: new Date(number) },
            $inc: { sum: number },
            ...($each.length > 0 && { $addToSet: { names: { $each } } }),
            $push: { done: { $each: [`d${n}`], $slice: -64 } },
          },
        };
      };
      for (const [n, [, isKnown]] of all.entries()) {
        await addTo(added, [additionOf(one, n, true)]);
        await addTo(added, [additionOf(other, n, isKnown)]);
        await addTo(added, [additionOf(other, n, !isKnown)]);
      }
      const [{ _id: _a, ...updated }, { _id: _b, ...inserted }] = (await Promise.all(
        [one, other].map((_id) => added.findOne({ _id })),
      )) as unknown as [Base, Base];
      expect(inserted).toEqual(updated);
    }),
    { numRuns: 60 },
  ));
