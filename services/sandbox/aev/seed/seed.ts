import { DEFAULT_TENANT, emptyWorld, SECOND_TENANT, type World } from "../world.js";
import { seedCatalogue } from "./catalogue.js";
import { seedPlans } from "./plans.js";
import { seedUsers } from "./users.js";

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

/** Fills a world with a few thousand linked objects; the same ones, but for their dates. */
export function seedWorld(now: number): World {
  const world = emptyWorld();
  const draw = createDraw(20_260_101);
  world.tenants.set(DEFAULT_TENANT, {
    id: DEFAULT_TENANT,
    name: "Security operations",
    description: "The group's own security team",
  });
  world.tenants.set(SECOND_TENANT, { id: SECOND_TENANT, name: "Subsidiary", description: "The subsidiary's team" });
  const contracts = seedCatalogue(world, draw, now);
  seedPlans(world, draw, contracts, DEFAULT_TENANT, 60, now);
  seedPlans(world, draw, contracts, SECOND_TENANT, 8, now);
  seedUsers(world, draw, now);
  return world;
}

function createDraw(seed: number): Draw {
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
