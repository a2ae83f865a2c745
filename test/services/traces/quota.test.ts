import { afterEach, beforeEach, expect, test } from "vitest";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { TraceInspectionService } from "#proto/traces/v1/trace_inspection_service_pb.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { createTracesService } from "../../../services/traces/service.js";
import { as, type Rig, startRig } from "../core-objects/rig.js";
import { exportOf, newSpanId, newTraceId, type Sketch } from "./spans.js";

// What the spans of one user may add up to: ten, or 100,000 bytes.

let rig: Rig;

beforeEach(async () => {
  rig = await startRig();
  const { store, peers } = rig;
  const quota = { spans: 10, bytes: 100_000 };
  rig.add(await createTracesService({ store, peers, log: silentLog, retentionDays: 30, quota }));
});
afterEach(() => rig.close());

const send = async (who: string, spans: readonly Sketch[]) => {
  const { partialSuccess } = await rig.dispatch.unary(
    TraceService.method.export,
    exportOf("q", spans),
    as(who, "traces"),
  );
  return [Number(partialSuccess?.rejectedSpans ?? 0), partialSuccess?.errorMessage ?? ""];
};
const many = (count: number): Sketch[] => Array.from({ length: count }, () => ({}));

test("spans beyond a user's own room are refused whole, with the reason and when there is room", async () => {
  expect(await send("alice", many(8))).toEqual([0, ""]);
  expect(await send("alice", many(3))).toEqual([3, expect.stringMatching(/at most 10 spans .* on \d{4}-\d\d-\d\d$/)]);
  expect(await send("alice", many(2))).toEqual([0, ""]);
  expect(await send("bob", many(10))).toEqual([0, ""]);
  const { traces } = await rig.dispatch.unary(
    TraceInspectionService.method.inspectAgentTraces,
    { pageSize: 100 },
    as("root", "traces"),
  );
  expect(traces.filter(({ user }) => user?.id === "alice")).toHaveLength(10);
});

test("bytes count like spans", async () => {
  const long = { attributes: { text: "é".repeat(30_000) } };
  expect(await send("alice", [long])).toEqual([0, ""]);
  expect((await send("alice", [long]))[0]).toBe(1);
});

test("a delivery that is repeated takes no more room", async () => {
  const spans = many(9).map(() => ({ trace: newTraceId(), id: newSpanId() }));
  for (let i = 0; i < 5; i++) expect(await send("alice", spans)).toEqual([0, ""]);
  expect(await send("alice", many(1))).toEqual([0, ""]);
  expect((await send("alice", many(1)))[0]).toBe(1);
});

test("those who send at the same time have the same room", async () => {
  const answers = await Promise.all(Array.from({ length: 40 }, () => send("alice", many(1))));
  expect(answers.filter(([rejected]) => rejected === 0).length).toBeLessThanOrEqual(10);
});
