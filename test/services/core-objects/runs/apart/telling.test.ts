import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { Telling } from "../../../../../services/core-objects/runs/apart/telling.js";

async function told(pieces: readonly string[], everyMs: number): Promise<string[]> {
  const heard: string[] = [];
  const telling = new Telling((text) => heard.push(text));
  for (const piece of pieces) {
    telling.add(piece);
    if (everyMs > 0) await sleep(everyMs);
  }
  telling.end();
  return heard;
}

test("small pieces are gathered: ten are told a second, and nothing is lost", async () => {
  const words = Array.from({ length: 200 }, (_, n) => `${n} `);
  const began = performance.now();
  const heard = await told(words, 3);
  const took = performance.now() - began;
  expect(heard.join("")).toBe(words.join(""));
  expect(heard.length).toBeGreaterThan(2);
  expect(heard.length).toBeLessThanOrEqual(took / 100 + 2);
});

test("a piece after which nothing comes for long is told meanwhile", async () => {
  const heard: string[] = [];
  const telling = new Telling((text) => heard.push(text));
  telling.add("One");
  telling.add(" two");
  await expect.poll(() => heard.join("")).toBe("One two");
});

test.each([
  [["<think>Hm.</think>\n\nDone."]],
  [["<th", "ink>Hm", ".</thi", "nk>", "\n\nDo", "ne."]],
  [["  <think>", "x".repeat(5_000), "</think> Done."]],
])("thoughts in front are not told", async (pieces) => {
  expect((await told(pieces, 120)).join("")).toBe("Done.");
  expect((await told(pieces, 0)).join("")).toBe("Done.");
});

test("what only begins like thoughts is told", async () => {
  expect((await told(["<th", "e> word"], 120)).join("")).toBe("<the> word");
});
