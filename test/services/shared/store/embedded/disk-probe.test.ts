import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createDiskProbe } from "../../../../../services/shared/store/embedded/disk-probe.js";
import { openEmbeddedStore } from "../../../../../services/shared/store/embedded/embedded.js";

let dir: string;
let why: string | undefined;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "probe-"));
  try {
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=4m", "tmpfs", dir], { stdio: "ignore" });
  } catch {
    why = "no disk can be mounted here";
  }
});
afterAll(() => {
  if (why === undefined) execFileSync("umount", [dir]);
  rmSync(dir, { recursive: true, force: true });
});

test("a disk that is full is told of without asking it, and so is that it is well again", async (context) => {
  if (why !== undefined) return context.skip(why);
  const store = await openEmbeddedStore(dir, { probeEveryMs: 20 });
  try {
    expect(store.unwritable()).toBeUndefined();
    // What is left is less than the store may need at once, though small changes still find room in its own free pages.
    const filler = join(dir, "filler");
    expect(() => writeFileSync(filler, Buffer.alloc(8 << 20))).toThrow(/ENOSPC/);
    await expect.poll(() => store.unwritable(), { timeout: 20_000 }).toMatch(/accepts no writes \(ENOSPC\)/);
    rmSync(filler);
    await expect.poll(() => store.unwritable(), { timeout: 20_000 }).toBeUndefined();
  } finally {
    await store.close();
  }
});

test("so is one that is read-only", async (context) => {
  if (why !== undefined) return context.skip(why);
  const fixed = mkdtempSync(join(tmpdir(), "probe-"));
  execFileSync("mount", ["-t", "tmpfs", "-o", "ro", "tmpfs", fixed]);
  const probe = await createDiskProbe(fixed);
  expect(probe.refusal()).toMatch(/accepts no writes \(EROFS\)/);
  await probe.close();
  execFileSync("umount", [fixed]);
  rmSync(fixed, { recursive: true });
});

test.skipIf(process.platform !== "linux")("asking writes some bytes a minute, not some megabytes", async () => {
  const folder = mkdtempSync(join(tmpdir(), "probe-"));
  const written = () => Number(/^wchar: (\d+)$/m.exec(readFileSync("/proc/self/io", "utf8"))?.[1]);
  const before = written();
  const probe = await createDiskProbe(folder, 2);
  // As many probes as ten minutes hold wrote 120 MiB.
  await new Promise((resolve) => setTimeout(resolve, 120 * 2 * 2));
  await probe.close();
  expect(probe.refusal()).toBeUndefined();
  expect(written() - before).toBeLessThan(1 << 20);
  rmSync(folder, { recursive: true });
});
