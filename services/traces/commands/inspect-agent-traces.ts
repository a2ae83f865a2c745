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
import { type ListPage, listPage } from "../../shared/store/page.js";
import type { Filter } from "../../shared/store/store.js";
import { allOf, type Readable, readableBy } from "../access.js";
import type { Context } from "../context.js";
import type { TraceRecord, TraceStore } from "../store.js";
import { spanSummaryOf, traceSummaryOf } from "../summaries.js";
import { tracesNamed } from "../trace-name.js";

type Request = MessageShape<typeof InspectAgentTracesRequestSchema>;
type Response = MessageInitShape<typeof InspectAgentTracesResponseSchema>;

const PAGE_SIZE = 10;
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
  return request.traceId === "" ? listTraces(store, readable, request) : showTrace(store, readable, request);
}

async function listTraces({ traces }: TraceStore, readable: Readable, request: Request): Promise<Response> {
  const [from, to] = periodOf(request);
  const demanded = { ...readable.wanted, ...filtersOf(request) } as Filter<TraceRecord>;
  const isPlain = Object.keys(demanded).length === 0;
  // Those that are past their time are few, because they are being deleted: of them alone no bound is needed.
  const page = await listPage(traces, {
    seen: isPlain ? ({ ...readable.seen, ...kept() } as Filter<TraceRecord>) : readable.seen,
    wanted: isPlain ? undefined : ({ ...demanded, ...kept() } as Filter<TraceRecord>),
    index: readable.index,
    order: "order",
    direction: -1,
    from,
    to,
    after: positionOf(request.pageToken),
    size: request.pageSize ?? PAGE_SIZE,
    projection: { batches: 0 },
  });
  return { traces: page.items.map((trace) => traceSummaryOf(trace, request.previewChars)), ...pagingOf(page) };
}

async function showTrace({ traces, spans }: TraceStore, readable: Readable, request: Request): Promise<Response> {
  const named = { ...allOf(readable), ...filtersOf(request), ...tracesNamed(request.traceId), ...kept() };
  const parts = await traces.find(named as Filter<TraceRecord>, { limit: 100, projection: { batches: 0 } }).toArray();
  const summaries = parts.map((trace) => traceSummaryOf(trace, request.previewChars));
  if (parts.length === 0) throw notFound(`no trace that you can read has the id ${request.traceId}`);
  if (parts.length > 1) return { traces: summaries, totalSize: parts.length };
  const page = await listPage(spans, {
    seen: { trace: parts[0]!._id },
    index: "trace",
    order: "order",
    direction: 1,
    after: positionOf(request.pageToken),
    size: request.pageSize ?? PAGE_SIZE,
  });
  return {
    traces: summaries,
    spans: page.items.map((span) => spanSummaryOf(span, request.previewChars)),
    ...pagingOf(page),
  };
}

/** What is past its retention is not there, also before it is deleted. */
function kept(): Filter<TraceRecord> {
  return { expires_at: { $gt: new Date() } };
}

function filtersOf({ status, source, model }: Request): Filter<TraceRecord> {
  return {
    ...(status !== TraceStatus.UNSPECIFIED && { error_count: status === TraceStatus.ERROR ? { $gt: 0 } : 0 }),
    ...(source !== "" && { sources: source }),
    ...(model !== "" && { models: model }),
  };
}

function pagingOf({
  end,
  total,
  totalIsLowerBound,
}: ListPage<unknown>): Pick<Response, "nextPageToken" | "totalSize" | "totalSizeIsLowerBound"> {
  return {
    ...(end !== undefined && { nextPageToken: pageTokenOf(end) }),
    totalSize: total,
    ...(totalIsLowerBound && { totalSizeIsLowerBound: true }),
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
