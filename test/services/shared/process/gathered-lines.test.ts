import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { gatheredLines } from "../../../../services/shared/process/gathered-lines.js";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

function target() {
  const written: string[] = [];
  return { written, write: (text: string) => written.push(text), flushSync: () => undefined };
}

test("lines of a moment are one write, and none waits for longer", () => {
  const to = target();
  const lines = gatheredLines(to);
  lines.write("a\n");
  vi.advanceTimersByTime(10);
  lines.write("b\n");
  expect(to.written).toEqual([]);
  vi.advanceTimersByTime(10);
  expect(to.written).toEqual(["a\nb\n"]);
  vi.advanceTimersByTime(1_000);
  lines.write("c\n");
  vi.advanceTimersByTime(20);
  expect(to.written).toEqual(["a\nb\n", "c\n"]);
});

test("no more is written together than stays together in a pipe, and a long line goes by itself", () => {
  const to = target();
  const lines = gatheredLines(to);
  lines.write("a\n");
  lines.write(`${"é".repeat(2_040)}\n`);
  expect(to.written).toEqual([]);
  lines.write(`${"b".repeat(20)}\n`);
  expect(to.written).toEqual([`a\n${"é".repeat(2_040)}\n`]);
  lines.write("c".repeat(20_000));
  expect(to.written.slice(1)).toEqual([`${"b".repeat(20)}\n`, "c".repeat(20_000)]);
  vi.advanceTimersByTime(1_000);
  expect(to.written).toHaveLength(3);
});

test.each([
  ["ends by itself", "", true],
  ["is ended", "process.exit(3);", false],
  ["ends by an error that nobody caught", 'throw new Error("uncaught");', false],
])("no line is missing of a process that %s", (_, end, isInOrder) => {
  const log = join(import.meta.dirname, "../../../../services/shared/process/log.ts");
  const code = `import { createLog } from ${JSON.stringify(log)}; const log = createLog("info");
    for (let i = 0; i < 300; i++) log.info({ i }, "line"); ${end}`;
  const args = ["--import", "tsx", "--conditions=house:source", "--input-type=module", "-e", code];
  const { stderr } = spawnSync(process.execPath, args, { encoding: "utf8" });
  const numbers = [...stderr.matchAll(/"i":(\d+)/g)].map(([, i]) => Number(i));
  // What a thread writes when the process is ended may come after what is written at the end.
  expect(isInOrder ? numbers : numbers.toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 300 }, (_unused, i) => i),
  );
});
