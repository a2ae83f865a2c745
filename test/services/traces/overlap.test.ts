import { afterAll, beforeAll, expect, test } from "vitest";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { TraceInspectionService } from "#proto/traces/v1/trace_inspection_service_pb.js";
import { as, type Rig } from "../core-objects/rig.js";
import { startTraces } from "./rig.js";
import { exportOf, newSpanId, newTraceId, type Sketch } from "./spans.js";

// Collectors that pass the same spans on cut them into deliveries of other sizes: what comes twice is then kept in two ways.

let rig: Rig;
beforeAll(async () => {
  rig = await startTraces();
});
afterAll(() => rig.close());

const send = (spans: readonly Sketch[]) =>
  rig.dispatch.unary(TraceService.method.export, exportOf("overlap", spans), as("alice", "traces"));

async function idsOf(traceId: string, pageSize: number): Promise<string[]> {
  const ids: string[] = [];
  let pageToken = "";
  do {
    const request = { traceId, pageSize, pageToken };
    const page = await rig.dispatch.unary(
      TraceInspectionService.method.inspectAgentTraces,
      request,
      as("alice", "traces"),
    );
    ids.push(...page.spans.map(({ spanId }) => spanId));
    pageToken = page.nextPageToken ?? "";
  } while (pageToken !== "");
  return ids;
}

test("spans that come at the same time among few and among many are shown once each, on pages of any size", async () => {
  const trace = newTraceId();
  const at = Date.now() - 60_000;
  const [first, ...spans] = Array.from({ length: 41 }, (_, n) => ({ trace, id: newSpanId(), at: at + n }));
  await send([first!]);
  // Few have documents of their own, many are a segment.
  await Promise.all([send(spans.slice(0, 5)), send(spans), send(spans.slice(30))]);
  const ids = [first!, ...spans].map(({ id }) => id);
  for (const pageSize of [1, 3, 40, 41, 100]) expect(await idsOf(trace, pageSize)).toEqual(ids);
});
