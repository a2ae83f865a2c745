import { expect, test } from "vitest";
import { readCommandLine } from "../../../clients/load/command-line.js";
import type { Operation } from "../../../clients/load/operation.js";
import { Recorder } from "../../../clients/load/recorder.js";
import { reportOf } from "../../../clients/load/report/make-report.js";

const OPERATION: Operation = { kind: "list", era: "2026-07-28", message: { headers: {}, bodyOf: String } };

/** A report of 100 requests, of which some were taken up late. */
function notesOf(late: number, lateMs: number): readonly string[] {
  const recorder = new Recorder([OPERATION]);
  for (let i = 0; i < 100; i++) {
    recorder.take(i < late ? lateMs : 0.1);
    const end = { failure: undefined, detail: undefined, bytes: 1, isStream: false };
    recorder.finish(OPERATION, { latencyMs: 20, wireMs: 20, ...end });
  }
  const { scenario } = readCommandLine(["--url", "http://127.0.0.1/", "--mix", "list"], {})!;
  const ran = { elapsedMs: 1_000, cpuMs: 10, isInterrupted: false };
  return reportOf({ scenario, recorder, ran, server: "", opened: 1, scrub: (text) => text }).notes;
}

test("a generator that keeps its schedule needs no note", () => {
  expect(notesOf(1, 12)).toEqual([]);
});

test("a generator that falls behind says so, with how much and what to do", () => {
  const [note, ...others] = notesOf(7, 240);
  expect(note).toMatch(/^The generator fell behind its schedule: it sent 7 % of the requests more than 10 ms late/);
  expect(note).toMatch(/the latest by 240 ms\. The latencies include this delay.*Use a lower rate/);
  expect(others).toEqual([]);
});
