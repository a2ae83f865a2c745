/** How many records of one kind each user has, and who has the most: kept in memory, each step in constant time. */
export interface Holders {
  /** How many there are of all users. */
  readonly total: number;
  /** Every user that has been counted. */
  names(): Iterable<string>;
  of(user: string): number;
  set(user: string, count: number): void;
  /** Takes `count` records off, each from the user who has the most at that moment; returns how many of each user. */
  takeFromLargest(count: number): ReadonlyMap<string, number>;
}

/** Nobody has any yet. */
export function createHolders(): Holders {
  const counts = new Map<string, number>();
  /** Users by how many records they have: none for 0. */
  const levels = new Map<number, Set<string>>();
  let total = 0;
  let highest = 0;

  function set(user: string, count: number): void {
    const before = counts.get(user) ?? 0;
    if (before === count) return;
    total += count - before;
    const level = levels.get(before);
    level?.delete(user);
    if (level?.size === 0) levels.delete(before);
    if (count === 0) counts.delete(user);
    else {
      counts.set(user, count);
      // Who was alone at a level takes its set to the next one: most records are of few users.
      levels.set(count, (levels.get(count) ?? (level?.size === 0 ? level : new Set<string>())).add(user));
    }
    highest = Math.max(highest, count);
    while (highest > 0 && !levels.has(highest)) highest--;
  }

  return {
    get total() {
      return total;
    },
    names: () => counts.keys(),
    of: (user) => counts.get(user) ?? 0,
    set,
    takeFromLargest(count) {
      const taken = new Map<string, number>();
      for (let left = Math.min(count, total); left > 0; left--) {
        const [user] = levels.get(highest) ?? [];
        if (user === undefined) break;
        taken.set(user, (taken.get(user) ?? 0) + 1);
        set(user, highest - 1);
      }
      return taken;
    },
  };
}
