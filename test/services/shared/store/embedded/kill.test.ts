import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, expect, test } from "vitest";
import { type Acknowledged, acknowledgedIn, missingOf } from "./acknowledged.js";
import { ended, runScript } from "./processes.js";
import { WRITES } from "./writer-plan.js";

const dirs: string[] = [];
afterEach(async () => {
  for (const dir of dirs.splice(0)) await rm(dir, { recursive: true });
});

test.each([200, 2_500])(
  "after kill -9 at %i acknowledged inserts every acknowledged write is there",
  async (killAt) => {
    const dir = await mkdtemp(join(tmpdir(), "store-"));
    dirs.push(dir);
    const acknowledged: Acknowledged[] = [];
    const child = await runScript("writer.ts", dir);
    for await (const line of createInterface(child.stdout!)) {
      acknowledged.push(acknowledgedIn(line));
      if (acknowledged.length === killAt) child.kill("SIGKILL");
    }
    await ended(child);
    expect(child.signalCode).toBe("SIGKILL");
    expect(acknowledged.length).toBeGreaterThanOrEqual(killAt);
    expect(acknowledged.length).toBeLessThan(WRITES);

    expect(await missingOf(dir, acknowledged)).toEqual([]);
  },
  30_000,
);
