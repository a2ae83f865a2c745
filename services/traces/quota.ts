import type { Caller } from "../shared/rpc/call.js";
import type { ReadSpan } from "./span.js";
import type { TraceStore } from "./store.js";

/** What the spans of one user may add up to until they end. */
export interface SpanQuota {
  readonly spans: number;
  readonly bytes: number;
}

/** What a user may keep where nothing else is said. */
export const SPAN_QUOTA: SpanQuota = { spans: 1_000_000, bytes: 2 ** 31 };

/** What a span takes besides its fields, about, in bytes. */
const SPAN_BYTES = 512;

/**
 * Takes room for spans of a caller that are not there yet. Room is taken before
 * they are written and comes back when they end, so that whoever sends at the
 * same time finds it gone. Spans of our own services need none.
 *
 * @returns the reason, in words for their sender, where there is no room.
 */
export async function takeRoom(
  { usage }: TraceStore,
  quota: SpanQuota,
  caller: Caller,
  spans: readonly ReadSpan[],
  expiresAt: Date,
): Promise<string | undefined> {
  if (caller.service || spans.length === 0) return undefined;
  const { _id, ends } = recordOf(caller, expiresAt);
  const own = sizeOf(spans);
  const onInsert = { user: caller.id, expires_at: ends };
  await usage.updateOne({ _id }, { $inc: { ...own }, $setOnInsert: onInsert }, { upsert: true });
  const days = await usage.find({ user: caller.id, expires_at: { $gt: new Date() } }).toArray();
  const total = (of: "spans" | "bytes"): number => days.reduce((sum, one) => sum + one[of], 0);
  if (total("spans") <= quota.spans && total("bytes") <= quota.bytes) return undefined;
  await giveBack(usage, _id, own);
  const first = days.filter((one) => one._id !== _id).map((one) => one.expires_at);
  const next = new Date(Math.min(ends.getTime(), ...first.map((end) => end.getTime())));
  return (
    `a user keeps at most ${quota.spans} spans and ${Math.floor(quota.bytes / 2 ** 20)} MiB of them at a time; ` +
    `there is room again when the oldest end, on ${next.toISOString().slice(0, 10)}`
  );
}

/** Gives the room of spans back that were not kept after all. */
export async function giveRoomBack(
  { usage }: TraceStore,
  caller: Caller,
  spans: readonly ReadSpan[],
  expiresAt: Date,
): Promise<void> {
  if (caller.service || spans.length === 0) return;
  await giveBack(usage, recordOf(caller, expiresAt)._id, sizeOf(spans));
}

const DAY_MS = 86_400_000;

/** The record of the day on which spans end: it ends with the last of them. */
function recordOf({ id }: Caller, expiresAt: Date): { readonly _id: string; readonly ends: Date } {
  const day = expiresAt.toISOString().slice(0, 10);
  return { _id: `${id}.${day}`, ends: new Date(Date.parse(day) + DAY_MS) };
}

function sizeOf(spans: readonly ReadSpan[]): SpanQuota {
  return { spans: spans.length, bytes: spans.reduce((sum, span) => sum + bytesOf(span), 0) };
}

async function giveBack(usage: TraceStore["usage"], _id: string, { spans, bytes }: SpanQuota): Promise<void> {
  await usage.updateOne({ _id }, { $inc: { spans: -spans, bytes: -bytes } });
}

function bytesOf({ payload }: ReadSpan): number {
  let bytes = SPAN_BYTES;
  for (const entry of payload) {
    bytes += entry.field.length + ("text" in entry ? Buffer.byteLength(entry.text) : entry.same.length);
  }
  return bytes;
}
