import { expect, test } from "vitest";
import { spanContextOf } from "../../../../services/shared/process/tracing.js";
import { isForOurselves, newTraceparent, traceIdOf } from "../../../../services/shared/rpc/traceparent.js";

test("every call gets a context of its own, which says whether it is traced", () => {
  const made = Array.from({ length: 1_000 }, () => newTraceparent(false));
  expect(new Set(made.map(traceIdOf)).size).toBe(1_000);
  for (const context of made) expect(context).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-02$/);
  expect(spanContextOf(made[0])?.traceFlags).toBe(0);
  expect(spanContextOf(newTraceparent(true))?.traceFlags).toBe(1);
});

test("only what nobody traces is kept from platforms", () => {
  expect(isForOurselves(newTraceparent(false))).toBe(true);
  expect(isForOurselves(newTraceparent(true))).toBe(false);
  expect(isForOurselves("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-00")).toBe(false);
  expect(traceIdOf(undefined)).toBe("");
});
