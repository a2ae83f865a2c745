import { expect, test } from "vitest";
import type { Operation } from "../../../clients/load/operation.js";
import { Recorder } from "../../../clients/load/recorder.js";

test("a server that makes up a code for each answer fills a hundred rows, and one for all others", () => {
  const operation = {} as Operation;
  const recorder = new Recorder([operation]);
  for (let i = 0; i < 1_000; i++) {
    const failed = { latencyMs: 1, wireMs: 1, bytes: 0, isStream: false, detail: "", failure: `rpc_${i}` };
    recorder.finish(operation, failed);
  }
  expect(recorder.failures.size).toBe(101);
  expect(recorder.failures.get("other")?.count).toBe(900);
  expect(recorder.failed).toBe(1_000);
});
