import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const FLAGS = ["--expose-gc", "--max-semi-space-size=1", "--import", "tsx", "--conditions=house:source"];

/** The bytes that a process allocates among the old. */
function oldBytes(how: string): number {
  const script = fileURLToPath(new URL("allocating.ts", import.meta.url));
  return Number(execFileSync(process.execPath, [...FLAGS, script, how], { encoding: "utf8" }));
}

test("what is made after others from the same place outlived collections is new nevertheless", () => {
  expect(oldBytes("as new")).toBeLessThan(100_000);
  expect(oldBytes("as V8 does by itself")).toBeGreaterThan(300_000);
});
