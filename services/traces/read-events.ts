import { setImmediate as nextTurn } from "node:timers/promises";
import type { MessageShape } from "@bufbuild/protobuf";
import type { ExportLogsServiceRequestSchema } from "#proto/opentelemetry/proto/collector/logs/v1/logs_service_pb.js";
import { readEvent } from "./event.js";
import { misdated } from "./read-spans.js";
import { type Rejects, reject } from "./rejects.js";
import type { ReadSpan } from "./span.js";

const MAX_RECORDS = 4_096;
/** Records that are read in one turn of the event loop: others are answered between. */
const RECORDS_A_TURN = 128;

/** Reads the events of an export of logs; records that cannot be taken are counted. */
export async function readEvents(
  request: MessageShape<typeof ExportLogsServiceRequestSchema>,
  retentionDays: number,
): Promise<{ readonly events: readonly ReadSpan[]; readonly rejects: Rejects }> {
  const rejects: Rejects = { count: 0, reasons: new Set() };
  const events: ReadSpan[] = [];
  let seen = 0;
  for (const { resource, scopeLogs } of request.resourceLogs) {
    for (const record of scopeLogs.flatMap(({ logRecords }) => logRecords)) {
      if (++seen % RECORDS_A_TURN === 0) await nextTurn();
      if (events.length >= MAX_RECORDS) {
        reject(rejects, 1, `an export can have at most ${MAX_RECORDS} log records`);
        continue;
      }
      const read = readEvent(record, resource, seen);
      const refusal =
        typeof read === "string" ? read : misdated(read, retentionDays)?.replace("a span", "a log record");
      if (typeof read !== "string" && refusal === undefined) events.push(read);
      else reject(rejects, 1, refusal as string);
    }
  }
  return { events, rejects };
}
