import { type Json, type Row, seededId, World } from "../world.js";

const START = Date.parse("2026-02-02T08:00:00Z");
const STEP_MS = 61_000;

/** Puts seeded objects into a world, one a minute, with ids that are the same at every start. */
export class Sower {
  readonly world = new World(seededId("folder:root"));
  private tick = 0;

  now(): string {
    this.tick += 1;
    return new Date(START + this.tick * STEP_MS).toISOString().replace("Z", "217Z");
  }

  /** @param key names the object among those of its path. */
  add(path: string, key: string, folder: string, name: string | null, fields: Record<string, Json>): Row {
    const at = this.now();
    const common = { id: seededId(`${path}:${key}`), folder, name, created_at: at, updated_at: at, description: null };
    return this.world.insert(path, { ...common, ...fields });
  }
}

/** A tenant that is being seeded. */
export interface Plot {
  readonly key: string;
  /** What the names of its objects begin with. */
  readonly short: string;
  /** The user who owns things there. */
  readonly owner: string;
  /** A domain of the tenant by turns; its own at 0. */
  readonly home: (i: number) => string;
  readonly asset: (i: number) => string;
}
