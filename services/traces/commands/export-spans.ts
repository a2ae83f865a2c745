import { setImmediate as nextTurn } from "node:timers/promises";
import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
} from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import type { Call, Caller } from "../../shared/rpc/call.js";
import { canceled } from "../../shared/rpc/errors.js";
import { usableAgents } from "../access.js";
import type { Context } from "../context.js";
import { agentsOf, countSpans, MAX_NAMES } from "../count-spans.js";
import { insertNew } from "../insert-new.js";
import { paged, pageId } from "../paged.js";
import { giveRoomBack, takeRoom } from "../quota.js";
import { type ReadSpan, readSpan } from "../span.js";
import type { TraceStore } from "../store.js";
import { recordIdOf } from "../trace-name.js";

const MAX_SPANS = 4096;
/** The most attributes of all spans of an export; those of a resource count for each of its spans. */
const MAX_FIELDS = 200_000;
/** Spans that are read, and written, in one turn of the event loop: others are answered between. */
const SPANS_A_TURN = 256;
/** And attributes: those of 256 spans could be all of an export's. */
const FIELDS_A_TURN = 8_192;
const MAX_SPANS_OF_A_TRACE = 20_000;
const DAY_MS = 86_400_000;
/** How far ahead of ours a sender's clock may be. */
const MAX_AHEAD_MS = DAY_MS / 2;

/**
 * Takes spans in (OTLP). They belong to the caller; a delivery that is repeated
 * changes nothing; spans that cannot be taken are counted in partial_success.
 * Once the sender is gone no further trace is begun.
 *
 * @throws ConnectError canceled, where the sender is gone.
 */
export async function exportSpans(
  { store, peers, log, retentionDays, quota }: Context,
  request: MessageShape<typeof ExportTraceServiceRequestSchema>,
  call: Call,
): Promise<MessageInitShape<typeof ExportTraceServiceResponseSchema>> {
  const { spans, rejects } = await readAll(request, retentionDays);
  const sender = senderOf(request, call);
  const claimed = new Set(spans.map(({ facts }) => facts.agent_id).filter((id) => id !== "" && id.length <= 128));
  const agents = await usableAgents(peers, call, [...claimed]);
  const expiresAt = new Date(Date.now() + retentionDays * DAY_MS);

  const byTrace = groupByTrace(spans, sender.id);
  const fresh = await newOnes(store, byTrace);
  const full = await takeRoom(store, quota, sender, fresh, expiresAt);
  if (full !== undefined) {
    reject(rejects, spans.length, full);
    byTrace.clear();
  }
  const there = await store.traces
    .find(
      { _id: { $in: [...byTrace.keys()] } },
      { projection: { span_count: 1, agents: 1, sources: 1, models: 1, tools: 1 } },
    )
    .toArray();
  const known = new Map(there.map((trace) => [trace._id, trace]));
  const left = new Set(byTrace.keys());
  try {
    for (const [trace, some] of byTrace) {
      if (call.signal.aborted) throw canceled("the sender went away: the same delivery, repeated, brings the rest");
      if ((known.get(trace)?.span_count ?? 0) + some.length > MAX_SPANS_OF_A_TRACE) {
        reject(rejects, some.length, `a trace has at most ${MAX_SPANS_OF_A_TRACE} spans`);
        continue;
      }
      if (new Set([...(known.get(trace)?.agents ?? []), ...agentsOf(some, agents)]).size > MAX_NAMES) {
        reject(rejects, some.length, `a trace is of at most ${MAX_NAMES} agents`);
        continue;
      }
      left.delete(trace);
      await keepSpans(store, trace, some, expiresAt);
      const names = known.get(trace);
      await countSpans(store, { trace, user: sender.id, spans: some, known: names, usable: agents, expiresAt });
    }
  } finally {
    const notKept = fresh.filter((span) => left.has(recordIdOf(span.traceId, sender.id)));
    await giveRoomBack(store, sender, notKept, expiresAt);
  }
  if (rejects.count === 0) return {};
  const errorMessage = [...rejects.reasons].join("; ");
  log.debug({ caller: call.caller.id, rejected: rejects.count, reasons: errorMessage }, "spans rejected");
  return { partialSuccess: { rejectedSpans: BigInt(rejects.count), errorMessage } };
}

/** The attribute of a resource by which our own services name the user whose run the spans are of. */
const RUN_OWNER = "sallyport.run.owner";

/** Whose the spans are: the caller's, or of the user for whom a service of ours tells of a run. */
function senderOf({ resourceSpans }: MessageShape<typeof ExportTraceServiceRequestSchema>, { caller }: Call): Caller {
  if (!caller.scopes.has("internal")) return caller;
  const [first] = resourceSpans;
  const owner = first?.resource?.attributes.find(({ key }) => key === RUN_OWNER)?.value?.value;
  return owner?.case === "stringValue" ? { ...caller, id: owner.value, service: false } : caller;
}

interface Rejects {
  count: number;
  readonly reasons: Set<string>;
}

function reject(rejects: Rejects, count: number, reason: string): void {
  rejects.count += count;
  rejects.reasons.add(reason);
}

/**
 * Why a span's time is none that it can be kept under: one of long ago would
 * outlive its days, one from ahead would stand before all others until then.
 */
function misdated({ facts }: ReadSpan, retentionDays: number, now = Date.now()): string | undefined {
  const began = facts.started_at.getTime();
  if (began < now - retentionDays * DAY_MS) return `a span began before the ${retentionDays} days that spans are kept`;
  if (began + facts.duration_ms <= now + MAX_AHEAD_MS) return undefined;
  return "a span is dated more than 12 hours ahead; set the clock of what sends it";
}

async function readAll(
  { resourceSpans }: MessageShape<typeof ExportTraceServiceRequestSchema>,
  retentionDays: number,
): Promise<{ readonly spans: ReadSpan[]; readonly rejects: Rejects }> {
  const rejects: Rejects = { count: 0, reasons: new Set() };
  const spans: ReadSpan[] = [];
  let fields = 0;
  let until = { spans: SPANS_A_TURN, fields: FIELDS_A_TURN };
  for (const { resource, scopeSpans } of resourceSpans) {
    for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
      if (spans.length >= MAX_SPANS) {
        reject(rejects, 1, `an export has at most ${MAX_SPANS} spans`);
        continue;
      }
      if (fields >= MAX_FIELDS) {
        reject(rejects, 1, `an export has at most ${MAX_FIELDS} attributes, those of a resource for each of its spans`);
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
  return { spans, rejects };
}

/** The spans of each trace by its record's id; one that is there twice counts once. */
function groupByTrace(spans: readonly ReadSpan[], user: string): Map<string, ReadSpan[]> {
  const groups = new Map<string, Map<string, ReadSpan>>();
  for (const span of spans) {
    const trace = recordIdOf(span.traceId, user);
    const group = groups.get(trace) ?? new Map<string, ReadSpan>();
    groups.set(trace, group.set(span.facts.span_id, span));
  }
  return new Map([...groups].map(([trace, group]) => [trace, [...group.values()]]));
}

/** Those that no delivery has brought before. */
async function newOnes({ spans }: TraceStore, byTrace: ReadonlyMap<string, readonly ReadSpan[]>): Promise<ReadSpan[]> {
  const all = new Map([...byTrace].flatMap(([trace, some]) => some.map((span) => [idOf(trace, span), span] as const)));
  const there = await spans.find({ _id: { $in: [...all.keys()] } }, { projection: { _id: 1 } }).toArray();
  for (const { _id } of there) all.delete(_id);
  return [...all.values()];
}

function idOf(trace: string, { facts }: ReadSpan): string {
  return `${trace}.${facts.span_id}`;
}

/** Pages that are written in one go: 2 MiB, some milliseconds of the event loop. */
const PAGES_AT_ONCE = 32;

// Pages before payloads before spans before the summary, so that what is listed can be read.
async function keepSpans(
  { spans, payloads, pages }: TraceStore,
  trace: string,
  some: readonly ReadSpan[],
  expiresAt: Date,
): Promise<void> {
  for (let from = 0; from < some.length; from += SPANS_A_TURN) {
    const turn = some.slice(from, from + SPANS_A_TURN);
    const kept = turn.map((span) => ({ _id: idOf(trace, span), ...paged(span.payload), expires_at: expiresAt }));
    const cut = kept.flatMap(({ _id, pages: own }) =>
      own.map((bytes, n) => ({ _id: pageId(_id, n), bytes, expires_at: expiresAt })),
    );
    for (let page = 0; page < cut.length; page += PAGES_AT_ONCE) {
      await insertNew(pages, cut.slice(page, page + PAGES_AT_ONCE));
    }
    await insertNew(
      payloads,
      kept.map(({ _id, fields }) => ({ _id, fields, expires_at: expiresAt })),
    );
    await insertNew(
      spans,
      turn.map((span) => ({ _id: idOf(trace, span), ...span.facts, trace, expires_at: expiresAt })),
    );
    await nextTurn();
  }
}
