import { describe, expect, test } from "vitest";
import { both } from "../../../../services/shared/limits/both-slots.js";
import { type NoSlot, type Slot, Slots } from "../../../../services/shared/limits/slots.js";

const LIMITS = { total: 3, perHolder: 2, bytes: 10, bytesPerHolder: 8 };
const given = (slot: Slot | NoSlot): Slot => {
  if (typeof slot === "string") throw new Error(slot);
  return slot;
};

describe("slots", () => {
  test("a holder has a share of them, and all holders together have the total", () => {
    const slots = new Slots(LIMITS);
    const first = given(slots.take("a"));
    given(slots.take("a"));
    expect(slots.take("a")).toBe("share");
    given(slots.take("b"));
    expect([slots.take("b"), slots.take("c"), slots.take("a")]).toEqual(["full", "full", "share"]);
    first.free(0);
    given(slots.take("c"));
  });

  test("a holder may have a share of its own", () => {
    const slots = new Slots({ ...LIMITS, total: Number.POSITIVE_INFINITY });
    given(slots.take("public", 0, 1));
    expect(slots.take("public", 0, 1)).toBe("share");
    for (let n = 0; n < 10; n++) given(slots.take("ours", 0, Number.POSITIVE_INFINITY));
  });

  test("they are crowded beyond a number", () => {
    const slots = new Slots({ ...LIMITS, crowded: 1 });
    const first = given(slots.take("a"));
    expect(slots.isCrowded).toBe(false);
    given(slots.take("a"));
    expect(slots.isCrowded).toBe(true);
    first.free(0);
    expect(slots.isCrowded).toBe(false);
  });
});

describe("bytes", () => {
  test("a holder has a share of them, and all holders together have the total", () => {
    const slots = new Slots(LIMITS);
    const [a, b] = [given(slots.take("a")), given(slots.take("b"))];
    expect([a.grow(9), a.grow(8), a.grow(1)]).toEqual([false, true, false]);
    expect([b.grow(3), b.grow(2)]).toEqual([false, true]);
    a.shrink(4);
    expect(b.grow(4)).toBe(true);
    a.free(4);
    expect(b.grow(2)).toBe(true);
  });

  test("the first ones are taken with the slot, or neither is", () => {
    const slots = new Slots(LIMITS);
    expect(slots.take("a", 9)).toBe("share");
    const a = given(slots.take("a", 8));
    expect([slots.take("a", 1), slots.take("b", 3)]).toEqual(["share", "full"]);
    a.free(8);
    given(slots.take("b", 8));
  });

  test("slots without bytes take none", () => {
    const slot = given(new Slots({ total: 1, perHolder: 1 }).take("a"));
    expect([slot.grow(0), slot.grow(1)]).toEqual([true, false]);
  });
});

describe("a slot of two holders", () => {
  test("counts for both, and is given back by both", () => {
    const [keys, addresses] = [new Slots(LIMITS), new Slots({ ...LIMITS, perHolder: 1, bytesPerHolder: 4 })];
    const take = (key: string): Slot | NoSlot => both(given(keys.take(key)), addresses.take("here"));
    const slot = given(take("a"));
    expect([slot.grow(5), slot.grow(4)]).toEqual([false, true]);
    expect(take("b")).toBe("share");
    slot.shrink(4);
    slot.free(0);
    // The refused ones have taken nothing of their keys.
    for (const key of ["b", "b", "b"]) given(take(key)).free(0);
    expect(given(keys.take("a")).grow(8)).toBe(true);
  });
});
