import { canceled } from "../shared/rpc/errors.js";
import { agentsOf, MAX_NAMES } from "./count-spans.js";
import type { ReadTrace } from "./gather.js";
import { HEAD_BYTES } from "./head.js";
import { type KnownSpans, knownKeys } from "./known-spans.js";
import { amountsOf, giveRoomBack, type Sender, type SpanAmounts, type SpanQuota, sum, takeRoom } from "./quota.js";
import { type Rejects, reject } from "./rejects.js";
import { areFew, eachOf, type Segment, segmentsOf, without } from "./segments.js";
import { FIRST_PART } from "./span-list.js";
import type { TraceStore } from "./store.js";
import { recordIdOf } from "./trace-name.js";
import { type FreshBatch, writeSpans } from "./write-spans.js";

/** How many traces are begun in one commit: each commit waits for the disk. */
const TRACES_AT_ONCE = 64;
/** How many bytes of spans, about: those of a larger trace are written by themselves. */
const BYTES_AT_ONCE = 1 << 20;
const MAX_SPANS_OF_A_TRACE = 20_000;

/** Spans that were read, and whose they become. */
export interface Delivery {
  readonly traces: readonly ReadTrace[];
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
  delivery: Delivery,
  rejects: Rejects,
  isGone: () => boolean,
): Promise<void> {
  const { traces, sender, expiresAt } = delivery;
  const batches = await freshOf(store, delivery);
  const full = await takeRoom(store, quota, sender, sum(batches.map(({ amounts }) => amounts)), expiresAt);
  if (full !== undefined) return reject(rejects, spansIn(traces), full);
  const left = new Set(batches);
  try {
    for (const some of together(batches.filter((one) => takesMore(one, rejects)))) {
      if (isGone()) throw canceled("the sender disconnected: to save the remaining spans, send the same export again");
      for (const one of some) left.delete(one);
      await writeSpans(store, some, expiresAt);
    }
  } finally {
    await giveRoomBack(store, sender, sum([...left].map(({ amounts }) => amounts)), expiresAt);
  }
}

function spansIn(traces: readonly ReadTrace[]): number {
  return traces.reduce((count, { gist }) => count + gist.spans, 0);
}

/** What comes of each trace, without the spans that a delivery has brought before. */
async function freshOf(store: TraceStore, { traces, sender, usable, expiresAt }: Delivery): Promise<FreshBatch[]> {
  const byId = new Map(traces.map((read) => [recordIdOf(read.traceId, sender.id), read]));
  const projection = { span_count: 1, agents: 1, external: 1, sources: 1, models: 1, tools: 1 };
  const there = await store.traces.find({ _id: { $in: [...byId.keys()] } }, { projection }).toArray();
  const records = new Map(there.map((trace) => [trace._id, trace]));
  const batches: FreshBatch[] = [];
  for (const [trace, read] of byId) {
    const known = records.get(trace);
    const { keys, part } = known === undefined ? NOTHING : await knownKeys(store, trace, read);
    const packs = keys.size === 0 ? read.packs : read.packs.map((pack) => without(pack, keys));
    const few = known === undefined ? [] : packs.filter(areFew);
    const segments = packs.filter((pack) => !few.includes(pack)).flatMap(segmentsOf);
    const long = [...read.long.filter(({ key }) => !keys.has(key)), ...few.flatMap(eachOf)];
    const amounts = sum([...segments.map(amountsIn), ...long.map(({ bytes }) => amountsOf(1, bytes))]);
    batches.push({ trace, user: sender.id, read, known, usable, expiresAt, segments, long, part, amounts });
  }
  return batches;
}

const NOTHING: KnownSpans = { keys: new Set(), part: FIRST_PART };

function amountsIn({ heads, spans, resource }: Segment): SpanAmounts {
  const count = heads.length / HEAD_BYTES;
  return amountsOf(count, spans.length + count * (resource?.length ?? 0));
}

/** Whether a trace takes the spans that come to it; if not, they are counted as rejected. */
function takesMore({ read: { gist }, known, usable }: FreshBatch, rejects: Rejects): boolean {
  if ((known?.span_count ?? 0) + gist.spans > MAX_SPANS_OF_A_TRACE) {
    reject(rejects, gist.spans, `a trace can have at most ${MAX_SPANS_OF_A_TRACE} spans`);
    return false;
  }
  if (new Set([...(known?.agents ?? []), ...agentsOf(gist, usable)]).size > MAX_NAMES) {
    reject(rejects, gist.spans, `a trace can have at most ${MAX_NAMES} agents`);
    return false;
  }
  return true;
}

/** Small traces by groups, a large one by itself. */
function* together(batches: readonly FreshBatch[]): Iterable<FreshBatch[]> {
  let group: FreshBatch[] = [];
  let bytes = 0;
  for (const batch of batches) {
    group.push(batch);
    bytes += batch.amounts.bytes;
    if (group.length < TRACES_AT_ONCE && bytes < BYTES_AT_ONCE) continue;
    yield group;
    [group, bytes] = [[], 0];
  }
  if (group.length > 0) yield group;
}
