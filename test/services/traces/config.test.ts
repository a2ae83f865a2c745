import { expect, test } from "vitest";
import { readConfig } from "../../../services/shared/config.js";
import { tracesOptions } from "../../../services/traces/config.js";

test("retention is 30 days unless told, and a number of days that makes sense", () => {
  expect(readConfig(tracesOptions, [], {}).traceRetentionDays).toBe(30);
  expect(readConfig(tracesOptions, [], { TRACE_RETENTION_DAYS: "7" }).traceRetentionDays).toBe(7);
  for (const given of ["0", "-1", "1.5", "many"]) {
    expect(() => readConfig(tracesOptions, [], { TRACE_RETENTION_DAYS: given })).toThrow("TRACE_RETENTION_DAYS");
  }
});
