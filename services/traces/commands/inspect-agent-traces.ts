import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { timestampMs } from "@bufbuild/protobuf/wkt";
import {
  type InspectAgentTracesRequestSchema,
  type InspectAgentTracesResponseSchema,
  Period,
  TraceStatus,
} from "#proto/traces/v1/trace_inspection_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { invalidArgument, notFound } from "../../shared/rpc/errors.js";
import { pageTokenOf, positionOf } from "../../shared/rpc/page-token.js";
import type { Base, Filter } from "../../shared/store/store.js";
import { readableBy } from "../access.js";
import type { Context } from "../context.js";
import type { SpanRecord, TraceRecord, TraceStore } from "../store.js";
import { spanSummaryOf, traceSummaryOf } from "../summaries.js";
import { tracesNamed } from "../trace-name.js";

type Request = MessageShape<typeof InspectAgentTracesRequestSchema>;
type Response = MessageInitShape<typeof InspectAgentTracesResponseSchema>;

const PAGE_SIZE = 20;
/** Beyond it `total_size` is a lower bound. */
const COUNTED = 10_000;
const HOUR_MS = 3_600_000;
const HOURS: Readonly<Record<Period, number>> = {
  [Period.UNSPECIFIED]: 24,
  [Period.LAST_HOUR]: 1,
  [Period.LAST_DAY]: 24,
  [Period.LAST_WEEK]: 7 * 24,
  [Period.LAST_MONTH]: 30 * 24,
  [Period.ALL]: Number.POSITIVE_INFINITY,
};

/** Lists the traces that the caller may read, or one of them with its spans. */
export async function inspectAgentTraces({ store, peers }: Context, request: Request, call: Call): Promise<Response> {
  const readable = await readableBy(peers, call, request.targetAgentId);
  const { status, source, model } = request;
  const wanted = {
    ...readable,
    ...(status !== TraceStatus.UNSPECIFIED && { error_count: status === TraceStatus.ERROR ? { $gt: 0 } : 0 }),
    ...(source !== "" && { sources: source }),
    ...(model !== "" && { models: model }),
    expires_at: { $gt: new Date() },
  } as Filter<TraceRecord>;
  return request.traceId === "" ? listTraces(store, wanted, request) : showTrace(store, wanted, request);
}

async function listTraces({ traces }: TraceStore, wanted: Filter<TraceRecord>, request: Request): Promise<Response> {
  const [from, to] = periodOf(request);
  const all = { ...wanted, order: { $gte: from, ...(to !== undefined && { $lt: to }) } } as Filter<TraceRecord>;
  const before = positionOf(request.pageToken);
  const page = before === undefined ? all : ({ ...all, order: { $gte: from, $lt: before } } as Filter<TraceRecord>);
  const size = request.pageSize ?? PAGE_SIZE;
  const [found, count] = await Promise.all([
    traces.find(page, { sort: { order: -1 }, limit: size + 1, projection: { batches: 0 } }).toArray(),
    traces.countDocuments(all, { limit: COUNTED + 1 }),
  ]);
  const shown = found.slice(0, size).map((trace) => traceSummaryOf(trace, request.previewChars));
  return { traces: shown, ...pagingOf(found, size, count) };
}

async function showTrace(
  { traces, spans }: TraceStore,
  wanted: Filter<TraceRecord>,
  request: Request,
): Promise<Response> {
  const named = { ...wanted, ...tracesNamed(request.traceId) } as Filter<TraceRecord>;
  const parts = await traces.find(named, { limit: 100, projection: { batches: 0 } }).toArray();
  const summaries = parts.map((trace) => traceSummaryOf(trace, request.previewChars));
  if (parts.length === 0) throw notFound(`no trace that you can read has the id ${request.traceId}`);
  if (parts.length > 1) return { traces: summaries, totalSize: parts.length };

  const all: Filter<SpanRecord> = { trace: parts[0]!._id };
  const after = positionOf(request.pageToken);
  const page = after === undefined ? all : ({ ...all, order: { $gt: after } } as Filter<SpanRecord>);
  const size = request.pageSize ?? PAGE_SIZE;
  const [found, count] = await Promise.all([
    spans.find(page, { sort: { order: 1 }, limit: size + 1 }).toArray(),
    spans.countDocuments(all, { limit: COUNTED + 1 }),
  ]);
  const shown = found.slice(0, size).map((span) => spanSummaryOf(span, request.previewChars));
  return { traces: summaries, spans: shown, ...pagingOf(found, size, count) };
}

/** @param found one more than the page's size where there is a next page. */
function pagingOf(
  found: readonly (Base & { readonly order: string })[],
  size: number,
  count: number,
): Pick<Response, "nextPageToken" | "totalSize" | "totalSizeIsLowerBound"> {
  const last = found.length > size ? found[size - 1] : undefined;
  return {
    ...(last !== undefined && { nextPageToken: pageTokenOf(last.order) }),
    totalSize: Math.min(count, COUNTED),
    ...(count > COUNTED && { totalSizeIsLowerBound: true }),
  };
}

/** The period as bounds on `order`, which begins with the start. */
function periodOf({ period, startedAfter, startedBefore }: Request): [from: string, to: string | undefined] {
  const back = Date.now() - HOURS[period] * HOUR_MS;
  const from = startedAfter === undefined ? back : timestampMs(startedAfter);
  const to = startedBefore === undefined ? undefined : timestampMs(startedBefore);
  if (to !== undefined && from >= to)
    throw invalidArgument("started_before must be later than where the period begins");
  return [
    Number.isFinite(from) ? new Date(from).toISOString() : "",
    to === undefined ? to : new Date(to).toISOString(),
  ];
}
