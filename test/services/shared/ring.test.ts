import fc from "fast-check";
import { expect, test } from "vitest";
import { Member, Ring } from "../../../services/shared/ring.js";

class Numbered extends Member {
  constructor(readonly number: number) {
    super();
  }
}

test("a ring holds what a Set would, in the same order, whatever enters and leaves", () => {
  const steps = fc.array(fc.tuple(fc.constantFrom("enter", "leave"), fc.nat(9)), { maxLength: 200 });
  fc.assert(
    fc.property(steps, (moves) => {
      const members = Array.from({ length: 10 }, (_, number) => new Numbered(number));
      const ring = new Ring<Numbered>();
      const set = new Set<Numbered>();
      for (const [move, number] of moves) {
        const member = members[number]!;
        if (move === "leave") {
          member.leave();
          set.delete(member);
        } else if (!set.has(member)) {
          ring.enter(member);
          set.add(member);
        }
        expect([...ring]).toEqual([...set]);
        expect(ring.first).toBe([...set][0]);
        expect(ring.isEmpty).toBe(set.size === 0);
      }
    }),
  );
});

test("who leaves while the ring is walked is not met, and who enters then is met the next time", () => {
  const ring = new Ring<Numbered>();
  const members = [1, 2, 3, 4].map((number) => new Numbered(number));
  for (const member of members) ring.enter(member);
  const met: number[] = [];
  for (const { number } of ring) {
    met.push(number);
    if (number !== 1) continue;
    members[0]?.leave();
    members[2]?.leave();
    ring.enter(new Numbered(5));
  }
  expect(met).toEqual([1, 2, 4]);
  expect([...ring].map(({ number }) => number)).toEqual([2, 4, 5]);
});
