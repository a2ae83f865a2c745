/** Draws that are the same in every run. */
export interface Draw {
  /** A whole number below n. */
  below(n: number): number;
  pick<T>(list: readonly T[]): T;
  /** Some of a list, without repeats. */
  some<T>(list: readonly T[], count: number): T[];
  /** A random (version 4) UUID. */
  uuid(): string;
}

/** Makes draws; the same seed gives the same ones. */
export function createDraw(seed: number): Draw {
  let state = seed;
  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
  const below = (n: number) => Math.floor(next() * n);
  return {
    below,
    pick: (list) => list[below(list.length)] as never,
    some(list, count) {
      const left = [...list];
      return Array.from({ length: Math.min(count, left.length) }, () => left.splice(below(left.length), 1)[0] as never);
    },
    uuid() {
      const hex = Array.from({ length: 32 }, () => below(16).toString(16));
      hex[12] = "4";
      hex[16] = "89ab"[below(4)] as string;
      return hex.join("").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5");
    },
  };
}
