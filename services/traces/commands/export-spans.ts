import { createHash } from "node:crypto";
import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  ExportTraceServiceRequestSchema,
  ExportTraceServiceResponseSchema,
} from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import type { Log } from "../../shared/process/log.js";
import type { Call } from "../../shared/rpc/call.js";
import type { Peers } from "../../shared/rpc/peers.js";
import type { UpdateFilter } from "../../shared/store/store.js";
import { isDuplicateKey } from "../../shared/store/store.js";
import { usableAgents } from "../access.js";
import { ownsTokens } from "../gen-ai.js";
import { insertNew } from "../insert-new.js";
import { type ReadSpan, readSpan } from "../span.js";
import type { Collections, TraceRecord } from "../store.js";

const MAX_SPANS = 4096;
const MAX_SPANS_OF_A_TRACE = 20_000;
const MAX_SET = 100;
const BATCHES_REMEMBERED = 64;
const DAY_MS = 86_400_000;

/** Where spans go, and for how long. */
export interface Inbox {
  readonly collections: Collections;
  readonly peers: Peers;
  readonly log: Log;
  /** Days that spans are kept after they arrive. */
  readonly retentionDays: number;
}

/**
 * Takes spans in (OTLP). They belong to the caller; a delivery that is repeated
 * changes nothing; spans that cannot be taken are counted in partial_success.
 */
export async function exportSpans(
  { collections, peers, log, retentionDays }: Inbox,
  request: MessageShape<typeof ExportTraceServiceRequestSchema>,
  call: Call,
): Promise<MessageInitShape<typeof ExportTraceServiceResponseSchema>> {
  const { spans, rejects } = readAll(request);
  const claimed = new Set(spans.map(({ facts }) => facts.agent_id).filter((id) => id !== "" && id.length <= 128));
  const agents = await usableAgents(peers, call, [...claimed]);
  const expiresAt = new Date(Date.now() + retentionDays * DAY_MS);

  const byTrace = groupByTrace(spans, call.caller.id);
  const there = await collections.traces
    .find({ _id: { $in: [...byTrace.keys()] } }, { projection: { span_count: 1 } })
    .toArray();
  const counts = new Map(there.map((trace) => [trace._id, trace.span_count]));
  for (const [trace, some] of byTrace) {
    if ((counts.get(trace) ?? 0) + some.length > MAX_SPANS_OF_A_TRACE) {
      reject(rejects, some.length, `a trace has at most ${MAX_SPANS_OF_A_TRACE} spans`);
      continue;
    }
    await keepSpans(collections, trace, some, expiresAt);
    await countSpans(collections, trace, call.caller.id, some, agents, expiresAt);
  }
  if (rejects.count === 0) return {};
  const errorMessage = [...rejects.reasons].join("; ");
  log.debug({ caller: call.caller.id, rejected: rejects.count, reasons: errorMessage }, "spans rejected");
  return { partialSuccess: { rejectedSpans: BigInt(rejects.count), errorMessage } };
}

interface Rejects {
  count: number;
  readonly reasons: Set<string>;
}

function reject(rejects: Rejects, count: number, reason: string): void {
  rejects.count += count;
  rejects.reasons.add(reason);
}

function readAll({ resourceSpans }: MessageShape<typeof ExportTraceServiceRequestSchema>) {
  const rejects: Rejects = { count: 0, reasons: new Set() };
  const spans: ReadSpan[] = [];
  for (const { resource, scopeSpans } of resourceSpans) {
    for (const span of scopeSpans.flatMap((scope) => scope.spans)) {
      if (spans.length >= MAX_SPANS) {
        reject(rejects, 1, `an export has at most ${MAX_SPANS} spans`);
        continue;
      }
      const read = readSpan(span, resource);
      if (typeof read === "string") reject(rejects, 1, read);
      else spans.push(read);
    }
  }
  return { spans, rejects };
}

/** The spans of each trace by its record's id; one that is there twice counts once. */
function groupByTrace(spans: readonly ReadSpan[], user: string): Map<string, ReadSpan[]> {
  const groups = new Map<string, Map<string, ReadSpan>>();
  for (const span of spans) {
    const trace = `${span.traceId}.${ownerTag(user)}`;
    const group = groups.get(trace) ?? new Map<string, ReadSpan>();
    groups.set(trace, group.set(span.facts.span_id, span));
  }
  return new Map([...groups].map(([trace, group]) => [trace, [...group.values()]]));
}

// Payloads before spans before the summary, so that what is listed can be read.
async function keepSpans(
  { spans, payloads }: Collections,
  trace: string,
  some: readonly ReadSpan[],
  expiresAt: Date,
): Promise<void> {
  const idOf = ({ facts }: ReadSpan): string => `${trace}.${facts.span_id}`;
  await insertNew(
    payloads,
    some.map((span) => ({ _id: idOf(span), fields: span.payload, expires_at: expiresAt })),
  );
  await insertNew(
    spans,
    some.map((span) => ({ _id: idOf(span), ...span.facts, trace, expires_at: expiresAt })),
  );
}

// One atomic update. An exporter that got no answer sends the same batch again:
// its digest, remembered with the sums, keeps them right.
async function countSpans(
  { traces }: Collections,
  trace: string,
  user: string,
  some: readonly ReadSpan[],
  usable: ReadonlySet<string>,
  expiresAt: Date,
): Promise<void> {
  const facts = some.map((span) => span.facts);
  const batch = digest(
    facts
      .map(({ span_id }) => span_id)
      .sort()
      .join(),
  );
  const first = facts.reduce((a, b) => (a.order < b.order ? a : b));
  const root = some.find(({ outermost }) => outermost === "yes")?.facts;
  const local = some.find(({ outermost }) => outermost === "here")?.facts;
  const about = ({ name, span_id, fields }: ReadSpan["facts"]) => ({
    name,
    root: span_id,
    fields: fields.filter(({ field }) => field === "input" || field === "output" || field === "error"),
  });
  const agents = distinct(facts.map(({ agent_id }) => agent_id)).filter((id) => usable.has(id));
  const own = facts.filter(({ operation }) => ownsTokens(operation));
  const sum = (of: readonly number[]): number => of.reduce((a, b) => a + b, 0);
  const update = {
    $setOnInsert: {
      trace_id: some[0]!.traceId,
      user,
      ...(root === undefined && (local === undefined ? { name: first.name } : about(local))),
    },
    ...(root !== undefined && { $set: about(root) }),
    $min: { started_at: first.started_at, order: `${first.started_at.toISOString()}.${trace}` },
    $max: {
      ended_at: new Date(Math.max(...facts.map((span) => span.started_at.getTime() + span.duration_ms))),
      expires_at: expiresAt,
    },
    $addToSet: eachOf({
      agents,
      viewers: [`u:${user}`, ...agents.map((id) => `a:${id}`)],
      sources: distinct(some.map(({ source }) => source)),
      models: distinct(facts.map(({ model }) => model)),
      tools: distinct(facts.map(({ tool }) => tool)),
    }),
    $inc: {
      span_count: facts.length,
      error_count: facts.filter(({ error }) => error).length,
      input_tokens: sum(own.map(({ input_tokens }) => input_tokens)),
      output_tokens: sum(own.map(({ output_tokens }) => output_tokens)),
    },
    $push: { batches: { $each: [batch], $slice: -BATCHES_REMEMBERED } },
  } as unknown as UpdateFilter<TraceRecord>;
  const uncounted = { _id: trace, batches: { $ne: batch } };
  try {
    await traces.updateOne(uncounted, update, { upsert: true });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    // The trace is there: this batch is counted already, or another one began it just now.
    await traces.updateOne(uncounted, update);
  }
}

function distinct(words: readonly string[]): string[] {
  return [...new Set(words)].filter((word) => word !== "").slice(0, MAX_SET);
}

function eachOf(sets: Readonly<Record<string, readonly string[]>>): Record<string, { $each: readonly string[] }> {
  const filled = Object.entries(sets).filter(([, words]) => words.length > 0);
  return Object.fromEntries(filled.map(([name, words]) => [name, { $each: words }]));
}

/** Tells users' parts of one trace apart without naming them in ids. */
function ownerTag(user: string): string {
  return digest(user).slice(0, 12);
}

function digest(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 24);
}
