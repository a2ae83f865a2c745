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
import { listPage } from "../../shared/store/page.js";
import type { Filter, Way } from "../../shared/store/store.js";
import { readerOf } from "../access.js";
import type { Context } from "../context.js";
import { SpansOf } from "../spans-of.js";
import type { TraceRecord } from "../store.js";
import { spanSummaryOf, traceSummaryOf } from "../summaries.js";
import { PARTS, tracesNamed } from "../trace-name.js";
import { pageWithinBudget, rowsWithinBudget } from "../within-budget.js";

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

/** What a row does not need. */
const NOT_SHOWN = { trace_id: 0, root: 0, failed: 0, batches: 0, expires_at: 0 };

/** Lists the traces of an agent, for administrators of all, or shows one trace that the caller may read with its spans. */
export function inspectAgentTraces(context: Context, request: Request, call: Call): Promise<Response> {
  return request.traceId === "" ? listTraces(context, request, call) : showTrace(context, request, call);
}

async function listTraces({ store, peers }: Context, request: Request, call: Call): Promise<Response> {
  const { targetAgentId, mine, pageToken, pageSize = PAGE_SIZE, previewChars } = request;
  const reader = readerOf(peers, call);
  // The user who sent a trace can read it, even if it names agents of others.
  if (!mine) await reader.checkListing(targetAgentId);
  const [from, to] = periodOf(request);
  const isOwn = mine && targetAgentId !== "" ? { user: call.caller.id } : {};
  const [ways, demanded] = [waysOf(request), { ...statusOf(request), ...isOwn }];
  const isPlain = ways.length === 0 && Object.keys(demanded).length === 0;
  const [index, seen] = seenBy(request, call);
  // What is past its retention is not there, also before it is deleted: of that there is little, so that it needs no bound.
  const kept = { expires_at: { $gt: new Date() } };
  const { rows, end } = await pageWithinBudget({
    size: pageSize,
    after: positionOf(pageToken, request),
    read: (after, size) =>
      listPage(store.traces, {
        seen: isPlain ? { ...seen, ...kept } : seen,
        ways,
        wanted: isPlain ? undefined : { ...demanded, ...kept },
        index,
        order: "order",
        direction: -1,
        from,
        to,
        after,
        size,
        projection: NOT_SHOWN,
      }),
    async show(traces) {
      const may = await reader.mayRead(traces);
      return traces.map((trace, i) => (may[i] ? traceSummaryOf(trace, previewChars) : undefined));
    },
  });
  return {
    traces: rows,
    ...(end !== undefined && { nextPageToken: pageTokenOf(end, request) }),
    ...(pageToken === "" && end === undefined && { totalSize: rows.length }),
  };
}

async function showTrace({ store, peers }: Context, request: Request, call: Call): Promise<Response> {
  const { traceId, pageToken, pageSize = PAGE_SIZE, previewChars } = request;
  const named = await tracesNamed(store, traceId, call.caller.id);
  const may = await readerOf(peers, call).mayRead(named);
  const parts = named.filter((trace, i) => may[i] && isWanted(trace, request));
  const summaries = parts.map((trace) => traceSummaryOf(trace, previewChars));
  const [trace] = parts;
  if (trace === undefined) throw notFound(`no trace that you can read has the id ${traceId}`);
  if (parts.length > 1) {
    const traces = rowsWithinBudget(summaries);
    const isAll = named.length < PARTS && traces.length === parts.length;
    return { traces, ...(isAll && { totalSize: traces.length }) };
  }
  const spansOf = await SpansOf.read(store, trace._id);
  const { rows, end } = await pageWithinBudget({
    beside: summaries[0]!.bytes,
    size: pageSize,
    after: positionOf(pageToken, request),
    read: (after, size) => spansOf.page(after, size),
    show: async (spans) => spans.map((span) => spanSummaryOf(span, previewChars)),
  });
  // The trace keeps count of its spans.
  return {
    traces: summaries.map(({ row }) => row),
    spans: rows,
    ...(end !== undefined && { nextPageToken: pageTokenOf(end, request) }),
    totalSize: trace.span_count,
  };
}

/** The index that a list goes along, and what it is narrowed to. */
function seenBy({ targetAgentId, mine }: Request, { caller }: Call): [index: string, seen: Filter<TraceRecord>] {
  if (targetAgentId !== "") return ["agents", { agents: targetAgentId }];
  return mine ? ["user", { user: caller.id }] : ["order", {}];
}

/** What a trace that is asked for by its id is narrowed by, as a list is. */
function isWanted(trace: TraceRecord, { targetAgentId, agentName, status, source, model }: Request): boolean {
  const has = (names: readonly string[] = [], name: string): boolean => name === "" || names.includes(name);
  const ended = trace.error_count > 0 ? TraceStatus.ERROR : TraceStatus.OK;
  return (
    has(trace.agents, targetAgentId) &&
    has(trace.external, agentName) &&
    has(trace.sources, source) &&
    has(trace.models, model) &&
    (status === TraceStatus.UNSPECIFIED || status === ended)
  );
}

/** The filters that have an index of their own, in addition to the agent. */
function waysOf({ agentName, source, model, status }: Request): Way<TraceRecord>[] {
  return [
    ...(agentName === "" ? [] : [{ index: "external", by: { external: agentName } }]),
    ...(source === "" ? [] : [{ index: "sources", by: { sources: source } }]),
    ...(model === "" ? [] : [{ index: "models", by: { models: model } }]),
    ...(status === TraceStatus.ERROR ? [{ index: "failed", by: { failed: true as const } }] : []),
  ];
}

function statusOf({ status }: Request): Filter<TraceRecord> {
  return status === TraceStatus.OK ? { error_count: 0 } : {};
}

/** The period as bounds on `order`, which begins with the start. */
function periodOf({ period, startedAfter, startedBefore }: Request): [from: string, to: string | undefined] {
  const back = Date.now() - HOURS[period] * HOUR_MS;
  const from = startedAfter === undefined ? back : timestampMs(startedAfter);
  const to = startedBefore === undefined ? undefined : timestampMs(startedBefore);
  if (to !== undefined && from >= to)
    throw invalidArgument("started_before must be later than the start of the period");
  return [
    Number.isFinite(from) ? new Date(from).toISOString() : "",
    to === undefined ? to : new Date(to).toISOString(),
  ];
}
