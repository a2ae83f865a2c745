import { setImmediate as nextTurn } from "node:timers/promises";
import { canceled } from "../shared/rpc/errors.js";
import { agentsOf, type Batch, countSpans, MAX_NAMES } from "./count-spans.js";
import { insertNew } from "./insert-new.js";
import { paged, pageId } from "./paged.js";
import { giveRoomBack, type Sender, type SpanQuota, takeRoom } from "./quota.js";
import { type Rejects, reject } from "./rejects.js";
import type { ReadSpan } from "./span.js";
import type { TraceStore } from "./store.js";
import { recordIdOf } from "./trace-name.js";

/**
 * Spans that are written in one turn of the event loop, and one commit: others are answered between. The embedded store
 * makes up to 200 writes of a collection at once; more would not keep the order.
 */
const SPANS_A_TURN = 128;
/** How many spans, about, are begun in one commit: each commit waits for the disk. */
const SPANS_BEGUN_AT_ONCE = 64;
/** Pages that are written in one go: 2 MiB, some milliseconds of the event loop. */
const PAGES_AT_ONCE = 32;
const MAX_SPANS_OF_A_TRACE = 20_000;

/** Spans that were read, and whose they become. */
export interface Delivery {
  readonly spans: readonly ReadSpan[];
  readonly sender: Sender;
  /** The agents that the sender can use: only these take spans as their own. */
  readonly usable: ReadonlySet<string>;
  readonly expiresAt: Date;
}

/**
 * Keeps spans, as far as there is room; those that are there already stay as
 * they are, and those that cannot be kept are counted as rejected. Once the
 * sender is gone no further trace is begun.
 *
 * @throws ConnectError canceled, where the sender is gone; unavailable, where the disk takes no more.
 */
export async function keepSpans(
  store: TraceStore,
  quota: SpanQuota,
  { spans, sender, usable, expiresAt }: Delivery,
  rejects: Rejects,
  isGone: () => boolean,
): Promise<void> {
  const byTrace = groupByTrace(spans, sender.id);
  const fresh = await newOnes(store, byTrace);
  const full = await takeRoom(store, quota, sender, fresh, expiresAt);
  if (full !== undefined) return reject(rejects, spans.length, full);
  const left = new Set(byTrace.keys());
  try {
    const batches = await batchesOf(store, byTrace, { sender, usable, expiresAt }, rejects);
    for (const some of together(batches)) {
      if (isGone()) throw canceled("the sender disconnected: to save the remaining spans, send the same export again");
      for (const { trace } of some) left.delete(trace);
      await writeSpans(store, some, expiresAt);
    }
  } finally {
    const notKept = fresh.filter((span) => left.has(recordIdOf(span.traceId, sender.id)));
    await giveRoomBack(store, sender, notKept, expiresAt);
  }
}

/** What comes of each trace, without those that take no more. */
async function batchesOf(
  { traces }: TraceStore,
  byTrace: ReadonlyMap<string, readonly ReadSpan[]>,
  { sender, usable, expiresAt }: Omit<Delivery, "spans">,
  rejects: Rejects,
): Promise<Batch[]> {
  const projection = { span_count: 1, agents: 1, external: 1, sources: 1, models: 1, tools: 1 };
  const there = await traces.find({ _id: { $in: [...byTrace.keys()] } }, { projection }).toArray();
  const records = new Map(there.map((trace) => [trace._id, trace]));
  return [...byTrace].flatMap(([trace, some]) => {
    const known = records.get(trace);
    if ((known?.span_count ?? 0) + some.length > MAX_SPANS_OF_A_TRACE) {
      reject(rejects, some.length, `a trace can have at most ${MAX_SPANS_OF_A_TRACE} spans`);
      return [];
    }
    if (new Set([...(known?.agents ?? []), ...agentsOf(some, usable)]).size > MAX_NAMES) {
      reject(rejects, some.length, `a trace can have at most ${MAX_NAMES} agents`);
      return [];
    }
    return [{ trace, user: sender.id, spans: some, known, usable, expiresAt }];
  });
}

/** Small traces by groups, a large one by itself. */
function* together(batches: readonly Batch[]): Iterable<Batch[]> {
  let group: Batch[] = [];
  let spans = 0;
  for (const batch of batches) {
    group.push(batch);
    spans += batch.spans.length;
    if (spans < SPANS_BEGUN_AT_ONCE) continue;
    yield group;
    [group, spans] = [[], 0];
  }
  if (group.length > 0) yield group;
}

/** The spans of each trace by its record's id; one that is there twice counts once. */
function groupByTrace(spans: readonly ReadSpan[], user: string): Map<string, ReadSpan[]> {
  const groups = new Map<string, Map<string, ReadSpan>>();
  const ids = new Map<string, string>();
  for (const span of spans) {
    const trace = ids.get(span.traceId) ?? recordIdOf(span.traceId, user);
    ids.set(span.traceId, trace);
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

// Pages before payloads before spans before the summaries, so that what is listed can be read. They are one commit, but
// for pages above PAGES_AT_ONCE.
async function writeSpans(store: TraceStore, batches: readonly Batch[], expiresAt: Date): Promise<void> {
  const { spans, payloads, pages } = store;
  const all = batches.flatMap(({ trace, spans: some }) => some.map((span) => ({ trace, span })));
  for (let from = 0; from < all.length; from += SPANS_A_TURN) {
    const turn = all.slice(from, from + SPANS_A_TURN);
    const kept = turn.map(({ trace, span }) => ({ _id: idOf(trace, span), ...paged(span.payload) }));
    const cut = kept.flatMap(({ _id, pages: own }) =>
      own.map((bytes, n) => ({ _id: pageId(_id, n), bytes, expires_at: expiresAt })),
    );
    while (cut.length > PAGES_AT_ONCE) await insertNew(pages, cut.splice(0, PAGES_AT_ONCE));
    const whole = kept.map(({ _id, fields }) => ({ _id, fields, expires_at: expiresAt }));
    const facts = turn.map(({ trace, span }) => ({
      _id: idOf(trace, span),
      ...span.facts,
      trace,
      expires_at: expiresAt,
    }));
    const isLast = from + SPANS_A_TURN >= all.length;
    await store.inOrder([
      ...(cut.length === 0 ? [] : [() => insertNew(pages, cut)]),
      () => insertNew(payloads, whole),
      () => insertNew(spans, facts),
      ...(isLast ? [() => countSpans(store, batches)] : []),
    ]);
    await nextTurn();
  }
}
