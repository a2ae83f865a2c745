import { setImmediate as nextTurn } from "node:timers/promises";
import type { MessageShape } from "@bufbuild/protobuf";
import type { ExportTraceServiceRequestSchema } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { DAY_MS } from "./days.js";
import { type Rejects, reject } from "./rejects.js";
import { type ReadSpan, readSpan } from "./span.js";

const MAX_SPANS = 4096;
/** The most attributes of all spans of an export; those of a resource count for each of its spans. */
const MAX_FIELDS = 200_000;
/** Spans that are read in one turn of the event loop: others are answered between. */
const SPANS_A_TURN = 256;
/** And attributes: those of 256 spans could be all of an export's. */
const FIELDS_A_TURN = 8_192;
/** How far ahead of ours a sender's clock may be. */
const MAX_AHEAD_MS = DAY_MS / 2;

type Export = MessageShape<typeof ExportTraceServiceRequestSchema>;

/** What an export says. */
export interface ReadSpans {
  readonly spans: readonly ReadSpan[];
  readonly rejects: Rejects;
  /** The user whose run the spans are of, where one of our own services says so. */
  readonly owner: string | undefined;
}

/** The attribute of a resource by which our own services name the user whose run the spans are of. */
const RUN_OWNER = "sallyport.run.owner";

/** Reads the spans of an export; those that cannot be taken are counted. */
export async function readSpans(request: Export, retentionDays: number): Promise<ReadSpans> {
  const rejects: Rejects = { count: 0, reasons: new Set() };
  const spans: ReadSpan[] = [];
  let fields = 0;
  let until = { spans: SPANS_A_TURN, fields: FIELDS_A_TURN };
  for (const { resource, scopeSpans } of request.resourceSpans) {
    for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
      if (spans.length >= MAX_SPANS) {
        reject(rejects, 1, `an export can have at most ${MAX_SPANS} spans`);
        continue;
      }
      if (fields >= MAX_FIELDS) {
        reject(
          rejects,
          1,
          `an export can have at most ${MAX_FIELDS} attributes, and those of a resource count once for each of its spans`,
        );
        continue;
      }
      const read = readSpan(span, resource);
      const refusal = typeof read === "string" ? read : misdated(read, retentionDays);
      if (typeof read === "string" || refusal !== undefined) {
        reject(rejects, 1, refusal as string);
        continue;
      }
      fields += read.payload.length;
      spans.push(read);
      if (spans.length < until.spans && fields < until.fields) continue;
      await nextTurn();
      until = { spans: spans.length + SPANS_A_TURN, fields: fields + FIELDS_A_TURN };
    }
  }
  return { spans, rejects, owner: ownerIn(request) };
}

function ownerIn({ resourceSpans: [first] }: Export): string | undefined {
  const owner = first?.resource?.attributes.find(({ key }) => key === RUN_OWNER)?.value?.value;
  return owner?.case === "stringValue" ? owner.value : undefined;
}

/** The agents that spans name. */
export function agentsNamedIn(spans: readonly ReadSpan[]): string[] {
  return [...new Set(spans.map(({ facts }) => facts.agent_id).filter((id) => id !== "" && id.length <= 128))];
}

/**
 * Why a span cannot be kept under its time: one of long ago would outlive its
 * days, one from ahead would stand before all others until then.
 */
export function misdated({ facts }: ReadSpan, retentionDays: number, now = Date.now()): string | undefined {
  const began = facts.started_at.getTime();
  if (began < now - retentionDays * DAY_MS)
    return `a span began more than ${retentionDays} days ago, and spans are kept for ${retentionDays} days`;
  if (began + facts.duration_ms <= now + MAX_AHEAD_MS) return undefined;
  return "a span is dated more than 12 hours ahead; set the clock of the sender";
}
