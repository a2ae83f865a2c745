import { setImmediate as nextTurn } from "node:timers/promises";
import { type MessageShape, toBinary } from "@bufbuild/protobuf";
import type { ExportLogsServiceRequestSchema } from "#proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import { ResourceSchema } from "#proto/opentelemetry/proto/resource/v1/resource_pb.js";
import { spanOfEvent } from "./event.js";
import { Gathering } from "./gather.js";
import { durationOf, msOf } from "./gist.js";
import { Glance } from "./glance.js";
import { misdated, type ReadSpans } from "./read-spans.js";
import { type Rejects, reject } from "./rejects.js";
import { readResource } from "./resource.js";

const MAX_RECORDS = 4_096;
/** Records that are read in one turn of the event loop: others are answered between. */
const RECORDS_A_TURN = 128;

/** Reads the events of an export of logs as spans; records that cannot be taken are counted. */
export async function readEvents(
  request: MessageShape<typeof ExportLogsServiceRequestSchema>,
  retentionDays: number,
): Promise<Omit<ReadSpans, "owner">> {
  const rejects: Rejects = { count: 0, reasons: new Set() };
  const gathering = new Gathering();
  const glance = new Glance();
  let [seen, taken] = [0, 0];
  for (const { resource, scopeLogs } of request.resourceLogs) {
    const from = resource && readResource(toBinary(ResourceSchema, resource));
    for (const record of scopeLogs.flatMap(({ logRecords }) => logRecords)) {
      if (++seen % RECORDS_A_TURN === 0) await nextTurn();
      if (taken >= MAX_RECORDS) {
        reject(rejects, 1, `an export can have at most ${MAX_RECORDS} log records`);
        continue;
      }
      const raw = spanOfEvent(record);
      if (typeof raw === "string") {
        reject(rejects, 1, raw);
        continue;
      }
      const refusal =
        glance.look(raw, 0, raw.length, from) ?? misdated(msOf(glance.start), durationOf(glance), retentionDays);
      if (refusal !== undefined) {
        reject(rejects, 1, refusal.replace("a span", "a log record"));
        continue;
      }
      taken++;
      // Clocks tell milliseconds, and a conversation has an order.
      gathering.add(glance, raw, from, seen);
    }
  }
  return { traces: gathering.traces, agents: gathering.agents, rejects };
}
