import { expect, test } from "vitest";
import { createLive } from "../../../clients/load/live.js";
import type { Operation } from "../../../clients/load/operation.js";
import { Recorder } from "../../../clients/load/recorder.js";
import { createSchedule } from "../../../clients/load/schedule.js";

const OPERATION: Operation = { kind: "list", era: "2026-07-28", message: { headers: {}, bodyOf: String } };
const SCHEDULE = createSchedule([{ seconds: 10, from: 5, to: 5 }]);

function shown(isTTY: boolean): string[] {
  const written: string[] = [];
  const recorder = new Recorder([OPERATION]);
  const screen = { isTTY, columns: 60, write: (text: string) => written.push(text) };
  const live = createLive(screen, SCHEDULE, 0, recorder);
  for (const second of [1, 2]) {
    recorder.take(0);
    const end = { failure: undefined, detail: undefined, bytes: 1, isStream: false };
    recorder.finish(OPERATION, { latencyMs: 3, wireMs: 3, ...end });
    live.show(recorder.endInterval(second, { inFlight: 0, waiting: 0 }));
  }
  live.end();
  return written;
}

test("elsewhere than on a terminal, each interval is a line without control characters", () => {
  expect(shown(false)).toEqual([
    "1 s: due 1, good 1, failed 0, p50 3.00, p99 3.00, max 3.00 ms, under way 0, waiting 0\n",
    "2 s: due 1, good 1, failed 0, p50 3.00, p99 3.00, max 3.00 ms, under way 0, waiting 0\n",
  ]);
});

test("on a terminal one block is redrawn in place", () => {
  const [first = "", second = ""] = shown(true);
  const lines = first.split("\n").length - 1;
  expect(lines).toBeGreaterThan(4);
  for (const line of first.split("\n")) expect(line.replaceAll("\x1b[2K", "").length).toBeLessThanOrEqual(60);
  expect(first).toContain("1 of 10 s");
  expect(first).toContain("target 5/s");
  expect(first).not.toContain(`\x1b[${lines}A`);
  expect(second.startsWith(`\x1b[${lines}A\x1b[2K`)).toBe(true);
});
