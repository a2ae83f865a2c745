import type { NoSlot, Slot } from "./slots.js";

/** Makes one slot of two that count for different holders; the first is given back if there is no second. */
export function both(first: Slot, second: Slot | NoSlot): Slot | NoSlot {
  if (typeof second !== "string") return new BothSlots(first, second);
  first.free(0);
  return second;
}

class BothSlots implements Slot {
  constructor(
    private readonly first: Slot,
    private readonly second: Slot,
  ) {}

  grow(bytes: number): boolean {
    if (!this.first.grow(bytes)) return false;
    if (this.second.grow(bytes)) return true;
    this.first.shrink(bytes);
    return false;
  }

  shrink(bytes: number): void {
    this.first.shrink(bytes);
    this.second.shrink(bytes);
  }

  free(bytes: number): void {
    this.first.free(bytes);
    this.second.free(bytes);
  }
}
