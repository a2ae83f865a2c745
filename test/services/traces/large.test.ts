import { toBinary } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import {
  InspectAgentTracesResponseSchema,
  TraceInspectionService,
} from "#proto/traces/v1/trace_inspection_service_pb.js";
import { serveTool } from "../../../facade/catalogue/served-tool.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { MAX_RESULT } from "../../../services/shared/tools/callable-tool.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";
import { createTracesService } from "../../../services/traces/service.js";
import { as, type Rig, startRig } from "../core-objects/rig.js";
import { exportOf, newTraceId } from "./spans.js";

// The largest traces that somebody can send, and what a list of them answers.

/** Of each trace. */
const SPANS = [4_000, 200, 200];
const BATCH = 200;

let rig: Rig;
let agent: string;
const traces = SPANS.map(newTraceId);
const tool = serveTool(readTools(readImage()).find(({ name }) => name === "inspect_agent_traces")!);

beforeAll(async () => {
  rig = await startRig();
  rig.add(await createTracesService({ store: rig.store, peers: rig.peers, log: silentLog, retentionDays: 30 }));
  const made = await rig.dispatch.unary(AgentService.method.createAgent, { name: "Large" }, as("alice"));
  agent = made.agent!.id;
  const long = (word: string, n: number) => `${word} ${n} `.padEnd(200, "я");
  const now = Date.now();
  for (const [nth, trace] of traces.entries()) {
    for (let from = 0; from < SPANS[nth]!; from += BATCH) {
      const spans = Array.from({ length: BATCH }, (_, i) => ({
        trace,
        at: now - 60_000 * nth,
        name: long("span", from + i),
        attributes: {
          "gen_ai.operation.name": "execute_tool",
          "gen_ai.agent.id": agent,
          "gen_ai.request.model": long("model", from + i),
          "gen_ai.tool.name": long("tool", from + i),
          "gen_ai.input.messages": long("input", from + i).repeat(3),
          "gen_ai.output.messages": long("output", from + i).repeat(3),
          ...Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`more.${n}`, long("more", n).repeat(3)])),
        },
      }));
      await rig.dispatch.unary(TraceService.method.export, exportOf(long("source", nth), spans), as("alice", "traces"));
    }
  }
});
afterAll(() => rig.close());

async function asked(request: object) {
  const method = TraceInspectionService.method.inspectAgentTraces;
  const answer = await rig.dispatch.unary(method, request, as("alice", "traces"));
  const grpc = toBinary(InspectAgentTracesResponseSchema, answer).length;
  return { answer, grpc, mcp: tool.encode(answer) };
}

test("a list of traces of thousands of spans is as small as one of others, on every door", async () => {
  const seen: string[] = [];
  let pageToken = "";
  do {
    const { answer, grpc, mcp } = await asked({ targetAgentId: agent, pageSize: 100, previewChars: 500, pageToken });
    if (process.env.SIZES) process.stdout.write(`list: gRPC ${grpc}, MCP ${Buffer.byteLength(mcp)}\n`);
    expect(grpc).toBeLessThan(MAX_RESULT);
    expect(mcp).not.toContain("truncated_hint");
    for (const row of answer.traces) {
      seen.push(row.id.split(".")[0]!);
      expect([row.spanCount, row.tools.length, row.models.length]).toEqual([SPANS[seen.length - 1], 10, 10]);
      expect(row.moreNames).toBe(180);
    }
    pageToken = answer.nextPageToken ?? "";
  } while (pageToken !== "");
  expect(seen).toEqual(traces);
});

test("a trace shows the spans that find room, how many there are, and where to read on", async () => {
  const seen: string[] = [];
  let [pageToken, pages] = ["", 0];
  do {
    const { answer, grpc, mcp } = await asked({ traceId: traces[0]!, pageSize: 100, previewChars: 500, pageToken });
    if (process.env.SIZES && pages < 1) process.stdout.write(`spans: gRPC ${grpc}, MCP ${Buffer.byteLength(mcp)}\n`);
    expect(grpc).toBeLessThan(MAX_RESULT);
    expect(mcp).not.toContain("truncated_hint");
    expect(answer.spans.length).toBeGreaterThan(0);
    expect(answer.totalSize).toBe(SPANS[0]);
    seen.push(...answer.spans.map(({ spanId }) => spanId));
    pageToken = answer.nextPageToken ?? "";
    pages++;
  } while (pageToken !== "" && pages < 40);
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.length).toBeGreaterThanOrEqual(40);
});
