import { digest } from "./digest.js";
import type { Pack } from "./gather.js";
import { HEAD_BYTES, keyIn, sizeIn } from "./head.js";

// Spans that came together are one document for each trace, not two for each span: what a document costs is not its bytes.

/** Bytes of spans from which on the next ones get a segment of their own: who wants a span reads its segment. */
const SEGMENT_BYTES = 64 << 10;

/** A segment that is to be kept. */
export interface Segment {
  /** After the trace's, its id: a fingerprint of its heads. A repeated delivery gives the same. */
  readonly name: string;
  readonly resource: Uint8Array | undefined;
  readonly heads: Buffer;
  readonly spans: Buffer;
}

/**
 * Cuts spans into segments.
 *
 * @param known keys of spans that are there and are left out.
 */
export function segmentsOf(
  { resource, heads: allHeads, spans: allSpans }: Pack,
  known: ReadonlySet<string>,
): Segment[] {
  const [heads, spans] =
    known.size === 0 ? [bufferOf(allHeads), bufferOf(allSpans)] : without(allHeads, allSpans, known);
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

function without(heads: Uint8Array, spans: Uint8Array, known: ReadonlySet<string>): [heads: Buffer, spans: Buffer] {
  const all = bufferOf(heads);
  const [keptHeads, kept]: Uint8Array[][] = [[], []];
  for (let at = 0, from = 0; at < all.length; at += HEAD_BYTES) {
    const to = from + sizeIn(all, at);
    if (!known.has(keyIn(all, at))) {
      keptHeads!.push(all.subarray(at, at + HEAD_BYTES));
      kept!.push(spans.subarray(from, to));
    }
    from = to;
  }
  return [Buffer.concat(keptHeads!), Buffer.concat(kept!)];
}

/** The same bytes as a Buffer. */
export function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
