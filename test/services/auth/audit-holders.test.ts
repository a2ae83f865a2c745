import fc from "fast-check";
import { expect, test } from "vitest";
import { createHolders } from "../../../services/auth/audit-holders.js";

const USERS = ["a", "b", "c"] as const;
const anyStep = fc.oneof(
  fc.record({ user: fc.constantFrom(...USERS), count: fc.nat(4) }),
  fc.record({ take: fc.nat(6) }),
);

test("how many each has is what was set, and those who have most give first", () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 30 }), (steps) => {
      const holders = createHolders();
      const counts = new Map<string, number>(USERS.map((user) => [user, 0]));
      for (const step of steps) {
        if ("user" in step) {
          holders.set(step.user, step.count);
          counts.set(step.user, step.count);
        } else {
          const before = [...counts.values()].reduce((sum, count) => sum + count, 0);
          const taken = holders.takeFromLargest(step.take);
          for (const [user, count] of taken) counts.set(user, (counts.get(user) ?? 0) - count);
          const gone = [...taken.values()].reduce((sum, count) => sum + count, 0);
          expect(gone).toBe(Math.min(step.take, before));
          // Who gave nothing had no more than what is left to those who gave, and one.
          const most = Math.max(...counts.values());
          for (const user of taken.keys()) expect(counts.get(user)).toBeGreaterThanOrEqual(most - 1);
        }
        for (const user of USERS) expect(holders.of(user)).toBe(counts.get(user));
        expect(holders.total).toBe([...counts.values()].reduce((sum, count) => sum + count, 0));
      }
    }),
  );
});
