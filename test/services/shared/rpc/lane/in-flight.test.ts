import fc from "fast-check";
import { expect, test } from "vitest";
import { InFlight } from "../../../../../services/shared/rpc/lane/in-flight.js";

const MOST = 8;

test("what is in flight is what a Map would hold, whatever comes and goes", () => {
  const ids = fc.constantFrom(0, 1, 2, 3, 5, 8, 128, 0x7fffffff, 0x80000000, 0xffffffff);
  const steps = fc.array(fc.tuple(fc.constantFrom("add", "take", "all"), ids), { maxLength: 100 });
  fc.assert(
    fc.property(steps, (moves) => {
      const inFlight = new InFlight<object>(MOST);
      const map = new Map<number, object>();
      for (const [move, id] of moves) {
        if (move === "all") {
          expect(new Set(inFlight.takeAll())).toEqual(new Set(map.values()));
          map.clear();
        } else if (move === "take") {
          expect(inFlight.take(id)).toBe(map.get(id));
          map.delete(id);
        } else if (!map.has(id) && map.size < MOST) {
          const one = { id };
          inFlight.add(id, one);
          map.set(id, one);
        }
        expect(inFlight.size).toBe(map.size);
        expect(inFlight.isFull).toBe(map.size === MOST);
        expect(inFlight.has(id)).toBe(map.has(id));
      }
    }),
  );
});
