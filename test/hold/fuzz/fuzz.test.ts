import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { fuzzReader, readers } from "./readers.js";
import { fuzz } from "./run.js";
import { targets } from "./targets.js";

// The bounded form of `npm run test:fuzz`: a fixed seed, half a second for each target, and what holds whatever
// else the machine does. Stalls and memory are measured there.

const INPUTS = 1_500;
const SECONDS = 0.5;
const FOUND = join(import.meta.dirname, "found");

test.each([...(await targets())])("no input is a fault of ours: %s", { timeout: 240_000 }, async (_name, start) => {
  const target = await start();
  try {
    const { problems, inputs } = await fuzz(target, { inputs: INPUTS, seed: 8, atOnce: 8, seconds: SECONDS });
    expect(problems).toEqual([]);
    expect(inputs).toBeGreaterThan(0);
  } finally {
    await target.close();
  }
});

test.each(readdirSync(FOUND))("what was a fault once is none any more: %s", async (file) => {
  const [name] = file.split(".", 1) as [string];
  const reader = (await readers()).find((one) => one.name.replaceAll(" ", "-") === name);
  const unchanged = { once: () => true } as never;
  const target = fuzzReader({ ...reader!, seeds: [readFileSync(join(FOUND, file))] });
  expect(await target.one(Object.assign(unchanged, { pick: (list: readonly unknown[]) => list[0] }))).toBeUndefined();
});
