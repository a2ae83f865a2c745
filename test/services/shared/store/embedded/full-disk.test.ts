import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { bundled } from "../../../../support/bundled.js";

test("a disk that takes no more refuses writes, in words, and keeps what was acknowledged readable", async () => {
  const dir = await mkdtemp(join(tmpdir(), "full-"));
  const script = await bundled(new URL("full-disk.ts", import.meta.url));
  // Files may have 2 MiB: what a full disk is to a program, without one.
  const shell = `ulimit -f $((2 * 1024 * 1024 / $1)); shift; exec "$@"`;
  const blockBytes = process.platform === "linux" ? "1024" : "512";
  const child = spawn("bash", ["-c", shell, "bash", blockBytes, process.execPath, script, dir]);
  const [said, complaint] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await rm(dir, { recursive: true, force: true });

  expect(said, complaint).not.toBe("");
  const { kept, refusals, intact } = JSON.parse(said) as { kept: number; refusals: string[]; intact: boolean };
  expect(kept).toBeGreaterThan(20);
  // Whether the last commit was kept is not known, so no sentence says it: the outcome of a write tool is "unknown".
  expect(refusals).toEqual([
    "[unavailable] the store cannot write to its disk now; ask an administrator to free space on it",
  ]);
  expect(intact).toBe(true);
});
