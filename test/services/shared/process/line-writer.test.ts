import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdtempSync, openSync, readSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, expect, test, vi } from "vitest";
import { LineWriter } from "../../../../services/shared/process/line-writer.js";

const dir = mkdtempSync(join(tmpdir(), "lines-"));
afterAll(() => rmSync(dir, { recursive: true }));

/** A pipe whose writer is told that it is full. */
function pipe(name: string) {
  const path = join(dir, name);
  execFileSync("mkfifo", [path]);
  const from = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  const to = openSync(path, constants.O_WRONLY | constants.O_NONBLOCK);
  const chunk = Buffer.alloc(10_000);
  const read = (): string => {
    try {
      return chunk.toString("latin1", 0, readSync(from, chunk));
    } catch {
      return "";
    }
  };
  return { from, to, read };
}

const lines = Array.from({ length: 60 }, (_, n) => `${n} ${"x".repeat(4_000)}\n`);

test("a reader that is behind gets everything in its order", async () => {
  const { from, to, read } = pipe("slow");
  const writer = new LineWriter(to);
  for (const line of lines) writer.write(line);
  let text = "";
  while (text.length < lines.join("").length) {
    text += read();
    await sleep(1);
  }
  expect(text).toBe(lines.join(""));
  closeSync(from);
  closeSync(to);
});

test("a reader that reads nothing costs 8 MiB, and what comes once it reads again is there", async () => {
  const { from, to, read } = pipe("stuck");
  const writer = new LineWriter(to);
  const before = process.memoryUsage().arrayBuffers;
  for (let i = 0; i < 100_000; i++) writer.write(lines[0] as string);
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(32 << 20);
  let text = "";
  await vi.waitUntil(
    () => {
      for (let i = 0; i < 20; i++) text += read();
      writer.write("end\n");
      return text.endsWith("end\n");
    },
    { timeout: 60_000, interval: 5 },
  );
  const notice = text.split("\n").find((line) => line.startsWith("{"));
  const { msg, bytes } = JSON.parse(notice ?? "") as { msg: string; bytes: number };
  expect(msg).toBe("lines of the log were dropped: its reader was behind");
  // All that was written is there or counted, but for some ends.
  const kept = text.replaceAll("end\n", "").replace(`${notice}\n`, "").length;
  expect(kept + bytes).toBeGreaterThanOrEqual(100_000 * (lines[0] as string).length);
  closeSync(from);
  closeSync(to);
});

test("at the end everything that waits is written, or dropped if nobody reads", async () => {
  const { from, to, read } = pipe("ending");
  const writer = new LineWriter(to);
  writer.write("a\n");
  await sleep(50);
  expect(read()).toContain("a\n");
  writer.flushSync("last\n");
  // No thread is waited for: one that has not begun when the process ends writes nothing.
  expect(read()).toContain("last\n");
  for (const line of lines.slice(0, 9)) writer.write(line);
  writer.flushSync();
  await sleep(50);
  const text = `${read()}${read()}${read()}${read()}`;
  expect([...text.matchAll(/\d+/g)].map(Number).sort()).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
  closeSync(from);
  for (const line of lines) writer.write(line);
  writer.flushSync();
  closeSync(to);
  const full = new LineWriter(openSync("/dev/full", "w"));
  for (const line of lines) full.write(line);
  full.flushSync();
});

test.each([
  ["is ended", "process.exit(3);", 3],
  ["ends by an error that nobody caught", 'throw new Error("uncaught");', 1],
])("a process that %s ends, though nobody reads what it writes", async (_, end, code) => {
  const log = join(import.meta.dirname, "../../../../services/shared/process/log.ts");
  // Its output says that it has begun; it logs once its input has ended.
  const source = `import { createLog } from ${JSON.stringify(log)}; const log = createLog("info");
    process.stdout.write("here"); process.stdin.resume().once("end", () => {
    for (let i = 0; i < 300; i++) log.info({ i }, "line"); ${end} });`;
  const args = ["--import", "tsx", "--conditions=house:source", "--input-type=module", "-e", source];
  const child = spawn(process.execPath, args, { timeout: 20_000, killSignal: "SIGKILL" });
  await once(child.stdout, "data");
  child.stderr.destroy();
  child.stdin.end();
  expect(await once(child, "exit")).toEqual([code, null]);
});
