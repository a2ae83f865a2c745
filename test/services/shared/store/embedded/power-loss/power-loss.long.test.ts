import { spawn, spawnSync } from "node:child_process";
import { mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { afterAll, expect, test } from "vitest";
import { titled } from "../../../../../support/titled.js";
import { ended, runScript } from "../processes.js";
import { STRACE } from "./trace.js";

// What a kill cannot show: whether each write was on disk before it was acknowledged. A trace of a writer says what was
// written and synced; of it come the images that a disk may hold after the power went at any point, and each is opened.
// IMAGES=600 SEED=2 for as many, and as others, as one likes.

const IMAGES = Number(process.env.IMAGES ?? 60);
const SEED = Number(process.env.SEED ?? 7);
const WRITES = 400;
const LANES = 4;

const dir = await realpath(await mkdtemp(join(tmpdir(), "power-loss-")));
afterAll(() => rm(dir, { recursive: true, force: true }));
const missing = spawnSync("strace", ["-V"]).status === 0 ? undefined : "strace is not there";

test.skipIf(missing)(
  titled("after a loss of power at any point every acknowledged write is there, and the store is whole", missing),
  async () => {
    const [trace, store] = [join(dir, "trace"), join(dir, "store")];
    const script = [join(import.meta.dirname, "..", "writer.ts"), store, String(WRITES), String(LANES)];
    const flags = ["--import", "tsx", "--conditions=house:source"];
    const writer = spawn("strace", [...STRACE, "-o", trace, process.execPath, ...flags, ...script]);
    const [said, wrong] = await Promise.all([text(writer.stdout), text(writer.stderr), ended(writer)]);
    expect(said.split("\n").filter(Boolean), wrong).toHaveLength(WRITES);

    const lines = await imagesOf(trace, store, IMAGES);
    expect(lines.filter((line) => line.startsWith("not whole"))).toEqual([]);
    expect(lines.filter((line) => line.startsWith("image "))).toHaveLength(IMAGES);
    // A trace that shows no write, or acknowledges none, would hold whatever the store does.
    const [, written, synced, acknowledged] = /^steps: (\d+) written, (\d+) synced, (\d+) said$/.exec(lines[0]!)!;
    expect(Number(written)).toBeGreaterThan(WRITES);
    expect(Number(synced)).toBeGreaterThan(WRITES / LANES);
    expect(Number(acknowledged)).toBe(WRITES);

    // The same trace without its syncs: were the store to sync nothing, the images would show it.
    const without = await imagesOf(trace, store, 12, "unsynced");
    expect(without.filter((line) => line.startsWith("not whole")).length).toBeGreaterThan(6);
  },
  600_000 + IMAGES * 5_000,
);

async function imagesOf(trace: string, store: string, count: number, ...how: string[]): Promise<readonly string[]> {
  const work = await mkdtemp(join(dir, "images-"));
  const reader = await runScript("power-loss/images.ts", trace, store, work, String(count), String(SEED), ...how);
  const [told, failed] = await Promise.all([text(reader.stdout!), text(reader.stderr!), ended(reader)]);
  const lines = told.trim().split("\n");
  expect(lines.at(-1), failed).toBe("done");
  return lines;
}
