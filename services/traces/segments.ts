import { digest } from "./digest.js";
import type { LongSpan, Pack } from "./gather.js";
import { HEAD_BYTES, keyIn, nthIn, sizeIn } from "./head.js";
import { shapedOf } from "./shaped.js";

// Spans that came together are one document for each trace, not two for each span: what a document costs is not its bytes.

/** Bytes of spans from which on the next ones get a segment of their own: who wants a span reads its segment. */
const SEGMENT_BYTES = 64 << 10;

/**
 * Fewer spans than this that come to a trace which is there get documents of their own: what a list of segments costs grows
 * with the segments, and an exporter that sends each span by itself would make thousands of them.
 */
const FEW = 16;

/** A segment that is to be kept. */
export interface Segment {
  /** After the trace's, its id: a fingerprint of its heads. A repeated delivery gives the same. */
  readonly name: string;
  readonly resource: Uint8Array | undefined;
  readonly heads: Buffer;
  readonly spans: Buffer;
}

/** Cuts spans into segments. */
export function segmentsOf({ resource, heads: allHeads, spans: allSpans }: Pack): Segment[] {
  const [heads, spans] = [bufferOf(allHeads), bufferOf(allSpans)];
  const segments: Segment[] = [];
  let [headsFrom, from, to] = [0, 0, 0];
  for (let at = 0; at < heads.length; at += HEAD_BYTES) {
    to += sizeIn(heads, at);
    const end = at + HEAD_BYTES;
    if (to - from < SEGMENT_BYTES && end < heads.length) continue;
    const own = heads.subarray(headsFrom, end);
    segments.push({ name: digest(own), resource, heads: own, spans: spans.subarray(from, to) });
    [headsFrom, from] = [end, to];
  }
  return segments;
}

/** Whether spans are too few to be a segment of a trace that is there. */
export function areFew({ heads }: Pack): boolean {
  return heads.length < FEW * HEAD_BYTES;
}

/** The spans of a pack, each to have documents of its own. */
export function eachOf({ resource, heads, spans }: Pack): LongSpan[] {
  const all = bufferOf(heads);
  const each: LongSpan[] = [];
  for (let at = 0, from = 0; at < all.length; at += HEAD_BYTES) {
    const raw = spans.subarray(from, from + sizeIn(all, at));
    from += raw.length;
    const span = shapedOf(raw, resource, nthIn(all, at));
    each.push({ key: keyIn(all, at), span, bytes: raw.length + (resource?.length ?? 0) });
  }
  return each;
}

/** A pack without the spans of these keys. */
export function without({ resource, heads, spans }: Pack, keys: ReadonlySet<string>): Pack {
  const all = bufferOf(heads);
  const [keptHeads, kept]: Uint8Array[][] = [[], []];
  for (let at = 0, from = 0; at < all.length; at += HEAD_BYTES) {
    const to = from + sizeIn(all, at);
    if (!keys.has(keyIn(all, at))) {
      keptHeads!.push(all.subarray(at, at + HEAD_BYTES));
      kept!.push(spans.subarray(from, to));
    }
    from = to;
  }
  return { resource, heads: Buffer.concat(keptHeads!), spans: Buffer.concat(kept!) };
}

/** The same bytes as a Buffer. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
