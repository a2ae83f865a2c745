import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";
import type { Base } from "../../../../../services/shared/store/store.js";
import { ended, runScript } from "./processes.js";
import { COUNTERS, ENTRIES, LANES, RECORDS, SPECS, WRITES } from "./writer-plan.js";

const dirs: string[] = [];
afterEach(async () => {
  for (const dir of dirs.splice(0)) await rm(dir, { recursive: true });
});

test.each([200, 2_500])(
  "after kill -9 at %i acknowledged inserts every acknowledged write is there",
  async (killAt) => {
    const dir = await mkdtemp(join(tmpdir(), "store-"));
    dirs.push(dir);
    const acknowledged: [entry: number, lane: number, n: number][] = [];
    const child = runScript("writer.ts", dir);
    for await (const line of createInterface(child.stdout!)) {
      const [entry, lane, n] = line.split(" ").map(Number) as [number, number, number];
      acknowledged.push([entry, lane, n]);
      if (acknowledged.length === killAt) child.kill("SIGKILL");
    }
    await ended(child);
    expect(child.signalCode).toBe("SIGKILL");
    expect(acknowledged.length).toBeGreaterThanOrEqual(killAt);
    expect(acknowledged.length).toBeLessThan(WRITES);

    const store = await openEmbeddedStore(dir);
    await store.ensure(SPECS);
    const entries = store.collection<Base & { code: string }>(ENTRIES);
    const counters = store.collection<Base & { n: number }>(COUNTERS);
    for (const [entry] of acknowledged) {
      expect(await entries.findOne({ _id: `e${entry}` })).toMatchObject({ code: `code-${entry}` });
      expect(await entries.findOne({ code: `code-${entry}` })).toMatchObject({ _id: `e${entry}` });
    }
    for (let lane = 0; lane < LANES; lane++) {
      const last = Math.max(0, ...acknowledged.filter(([, of]) => of === lane).map(([, , n]) => n));
      expect((await counters.findOne({ _id: `lane-${lane}` }))?.n ?? 0).toBeGreaterThanOrEqual(last);
    }
    const records = store.collection<Base & { entry: number }>(RECORDS);
    const recorded = new Set((await records.find({ entry: { $gte: 0 } }).toArray()).map(({ entry }) => entry));
    expect(acknowledged.filter(([entry]) => !recorded.has(entry))).toEqual([]);
    expect(recorded.size).toBe(await records.countDocuments());
    const there = await entries.find({}).toArray();
    expect(await entries.countDocuments({ code: { $gte: "code-" } })).toBe(there.length);
    await store.close();
  },
  30_000,
);
