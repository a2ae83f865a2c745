import { randomBytes } from "node:crypto";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { connectClient } from "../../../clients/node/connect.js";
import { exportOf, newSpanId, newTraceId, type Sketch } from "../../services/traces/spans.js";
import { startProgram } from "../../support/program.js";
import { cpuMicroseconds } from "../servers/processes.js";
import type { Say } from "./main.js";
import { ownBytesOf, settled } from "./memory.js";

/** Spans of an export, as the batch processors of OpenTelemetry send them. */
const BATCH = 512;
const SPANS_OF_A_TRACE = 16;
const AT_ONCE = 4;

/** What a span costs of CPU, and what many of them leave in memory. */
export async function spansPart(say: Say, count: number): Promise<void> {
  const program = await startProgram({ env: { TRACE_SPANS_PER_USER: "100000000", TRACE_MEGABYTES_PER_USER: "51200" } });
  const pid = program.process.pid as number;
  try {
    const { bootstrap } = program;
    const traces = connectClient(TraceService, { baseUrl: bootstrap.grpc_url, apiKey: bootstrap.analyst.api_key });
    const before = cpuMicroseconds(pid);
    let sent = 0;
    const sender = async (): Promise<void> => {
      while (sent < count) {
        sent += BATCH;
        const { partialSuccess } = await traces.export(exportOf("bench", batch()));
        if (partialSuccess !== undefined && partialSuccess.rejectedSpans > 0n)
          throw new Error(partialSuccess.errorMessage);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, sender));
    say("span", `${((cpuMicroseconds(pid) - before) / sent).toFixed(1)} µs of CPU`, `exports of ${BATCH}`);
    const own = await settled(() => ownBytesOf(pid), 20);
    say("own memory after these", `${(own / (1 << 20)).toFixed(0)} MB`, `${sent} spans`);
  } finally {
    await program.stop();
  }
}

function batch(): Sketch[] {
  const spans: Sketch[] = [];
  while (spans.length < BATCH) {
    const [trace, root] = [newTraceId(), newSpanId()];
    for (let i = 0; i < SPANS_OF_A_TRACE; i++) {
      const input = randomBytes(48).toString("hex");
      const own = i === 0 ? { id: root, name: "invoke_agent a" } : { parent: root, name: "chat m" };
      spans.push({ trace, ...own, attributes: { ...CHAT, "gen_ai.input.messages": input } });
    }
  }
  return spans;
}

const CHAT = {
  "gen_ai.operation.name": "chat",
  "gen_ai.request.model": "m",
  "gen_ai.usage.input_tokens": 100,
  "gen_ai.usage.output_tokens": 20,
};
