import { setImmediate as nextTurn } from "node:timers/promises";
import { addTo } from "./add-to.js";
import { type Batch, countSpans } from "./count-spans.js";
import type { LongSpan } from "./gather.js";
import { HEAD_BYTES } from "./head.js";
import { insertNew } from "./insert-new.js";
import { paged, pageId } from "./paged.js";
import type { SpanAmounts } from "./quota.js";
import type { Segment } from "./segments.js";
import type { ReadSpan } from "./span.js";
import { type OpenPart, partId } from "./span-list.js";
import type { TraceStore } from "./store.js";

/** A batch with those of its spans that are not there yet. */
export interface FreshBatch extends Batch {
  readonly segments: readonly Segment[];
  readonly long: readonly LongSpan[];
  /** The part of the trace's list that takes the segments. */
  readonly part: OpenPart;
  /** What the fresh spans take. */
  readonly amounts: SpanAmounts;
}

/**
 * Documents of a collection that are written in one turn of the event loop, and one commit: others are answered between.
 * The embedded store makes up to 200 writes of a collection at once; more would not keep the order.
 */
const AT_ONCE = 64;
/** Pages that are written in one go: 2 MiB, some milliseconds of the event loop. */
const PAGES_AT_ONCE = 32;

/** Writes spans before the lists of spans before the summaries, so that what is listed can be read: for most in one commit. */
export async function writeSpans(store: TraceStore, batches: readonly FreshBatch[], expiresAt: Date): Promise<void> {
  const long = batches.flatMap(({ trace, long }) => long.map(({ span }) => ({ trace, span })));
  for (let from = 0; from < long.length; from += AT_ONCE) {
    await writeLong(store, long.slice(from, from + AT_ONCE), expiresAt);
    await nextTurn();
  }
  const segments = batches.flatMap(({ trace, segments }) =>
    segments.map(({ name, resource, spans }) => ({
      ...{ _id: `${trace}.${name}`, spans, expires_at: expiresAt },
      ...(resource !== undefined && { resource }),
    })),
  );
  while (segments.length > AT_ONCE) {
    await insertNew(store.segments, segments.splice(0, AT_ONCE));
    await nextTurn();
  }
  const listed = batches.filter(({ segments }) => segments.length > 0);
  await store.inOrder([
    ...(listed.length === 0
      ? []
      : [() => insertNew(store.segments, segments), () => addTo(store.lists, listed.map(additionOf))]),
    () => countSpans(store, batches),
  ]);
  await nextTurn();
}

/** Adds segments to the list of a trace's spans; two deliveries that are the same have the first one's name. */
function additionOf({ trace, part, segments, expiresAt }: FreshBatch) {
  const $each = segments.map(({ name, heads }) => ({ segment: name, heads, expires_at: expiresAt }));
  return {
    _id: partId(trace, part),
    isThere: part.isThere,
    guard: { "segments.segment": { $ne: $each[0]!.segment } },
    update: {
      $push: { segments: { $each } },
      $inc: { span_count: segments.reduce((count, { heads }) => count + heads.length / HEAD_BYTES, 0) },
      $max: { expires_at: expiresAt },
    },
  };
}

interface Long {
  readonly trace: string;
  readonly span: ReadSpan;
}

/** A long span has documents of its own: pages before the payload before the span. They are one commit, but for pages above PAGES_AT_ONCE. */
async function writeLong(store: TraceStore, some: readonly Long[], expiresAt: Date): Promise<void> {
  const { spans, payloads, pages } = store;
  const kept = some.map(({ trace, span }) => ({ _id: `${trace}.${span.facts.span_id}`, ...paged(span.payload) }));
  const cut = kept.flatMap(({ _id, pages: own }) =>
    own.map((bytes, n) => ({ _id: pageId(_id, n), bytes, expires_at: expiresAt })),
  );
  while (cut.length > PAGES_AT_ONCE) await insertNew(pages, cut.splice(0, PAGES_AT_ONCE));
  const whole = kept.map(({ _id, fields }) => ({ _id, fields, expires_at: expiresAt }));
  const facts = some.map(({ trace, span }, i) => ({
    ...{ _id: kept[i]!._id, ...span.facts, trace, expires_at: expiresAt },
  }));
  await store.inOrder([
    ...(cut.length === 0 ? [] : [() => insertNew(pages, cut)]),
    () => insertNew(payloads, whole),
    () => insertNew(spans, facts),
  ]);
}
