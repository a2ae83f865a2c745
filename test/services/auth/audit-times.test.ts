import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { auditIdOf } from "../../../services/auth/audit-record-doc.js";
import { firstIdSince } from "../../../services/auth/audit-times.js";
import { type AuthStore, openAuthStore } from "../../../services/auth/store.js";
import type { Store } from "../../../services/shared/store/store.js";
import { temporaryStore } from "./stack.js";

let store: Store;
let records: AuthStore;
beforeAll(async () => {
  store = await temporaryStore();
  records = await openAuthStore(store);
});
afterAll(() => store.close());

/** Numbers that go on by 1 or by more, where records were deleted, and times that stay or go on. */
const steps = fc.array(fc.tuple(fc.integer({ min: 1, max: 4 }), fc.integer({ min: 0, max: 3 })), { maxLength: 40 });

const sumOf = (some: readonly number[]): number => some.reduce((sum, one) => sum + one, 0);

test("the records from it on are those that were written at a time or later", async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.integer({ min: -1, max: 60 }), async (gaps, at) => {
      const all = gaps.map((_, n) => {
        const before = gaps.slice(0, n + 1);
        return { number: sumOf(before.map(([further]) => further)), time: sumOf(before.map(([, later]) => later)) };
      });
      await records.audit.deleteMany({});
      if (all.length > 0)
        await records.audit.insertMany(
          all.map((one) => ({ _id: auditIdOf(BigInt(one.number)), recorded_at: new Date(one.time) })) as never,
        );
      const from = Number(await firstIdSince(records, new Date(at)));
      expect(all.filter((one) => one.number >= from)).toEqual(all.filter((one) => one.time >= at));
    }),
    { numRuns: 60 },
  );
});
