import fc from "fast-check";
import { expect, test } from "vitest";
import { HEAD_BYTES, idIn, keyIn, orderIn, writeHead } from "../../../services/traces/head.js";
import { SpanList } from "../../../services/traces/span-list.js";
import type { ListRecord } from "../../../services/traces/store.js";

const half = fc.oneof(fc.integer({ min: 0, max: 2 }), fc.integer({ min: 0, max: 0xffff_ffff }));
const nanos = fc.record({ high: half, low: half });
const head = fc
  .record({ start: nanos, end: nanos, isOutermost: fc.boolean(), nth: fc.integer({ min: 0, max: 3 }), id: half })
  .map(({ start, end, id, ...rest }) => {
    const bytes = Buffer.alloc(8);
    bytes.writeUInt32BE(id, 4);
    const isBefore = end.high < start.high || (end.high === start.high && end.low < start.low);
    const written = Buffer.alloc(HEAD_BYTES);
    // No span begins at 0.
    const from = { high: start.high, low: (start.low | 1) >>> 0 };
    writeHead(
      written,
      0,
      { ...rest, start: from, end: isBefore ? from : { high: end.high, low: (end.low | 1) >>> 0 }, size: 10 },
      bytes,
      0,
    );
    return written;
  });
const unique = fc.uniqueArray(head, { maxLength: 40, selector: (one) => idIn(one, 0) });

/** Heads in segments of some size, these in parts. */
function listOf(heads: readonly Buffer[], size: number, expiresAt = new Date(Date.now() + 60_000)): ListRecord[] {
  const segments = Array.from({ length: Math.ceil(heads.length / size) }, (_, i) => ({
    segment: `s${i}`,
    heads: Buffer.concat(heads.slice(i * size, (i + 1) * size)),
    expires_at: expiresAt,
  }));
  return segments.map((one, i) => ({ _id: `t.${i}`, segments: [one], span_count: size, expires_at: expiresAt }));
}

test("pages of a list are all its spans in their order, each once, however they are cut", () => {
  fc.assert(
    fc.property(unique, fc.integer({ min: 1, max: 9 }), fc.integer({ min: 1, max: 7 }), (heads, size, page) => {
      const parts = listOf(heads, size);
      // The last is listed twice, as two processes may do it, and some spans are in another segment too.
      const other = listOf(heads.slice(0, 3), 2).map((part, i) => {
        const [one] = part.segments as [ListRecord["segments"][number]];
        return { ...part, segments: [{ ...one, segment: `other${i}` }] };
      });
      const list = new SpanList([...parts, ...parts.slice(-1), ...other]);
      const read: string[] = [];
      for (let after: string | undefined; ; after = read.at(-1)) {
        const some = list.after(after, page);
        if (some.length === 0) break;
        read.push(...some.map(({ order }) => order));
      }
      expect(read).toEqual(heads.map((one) => orderIn(one, 0)).sort());
      for (const one of heads) {
        const place = heads.findIndex((other) => idIn(other, 0) === idIn(one, 0));
        const from = (place % size) * 10;
        expect(list.find(idIn(one, 0))).toMatchObject({ segment: `s${Math.floor(place / size)}`, from, to: from + 10 });
      }
      const keys = heads.map((one) => keyIn(one, 0));
      const some = keys.filter((_, i) => i % 2 === 0);
      // One that differs from another at its end alone.
      const others = some.map((key) => key.slice(0, -1) + String.fromCharCode(key.charCodeAt(7) ^ 0x80));
      const asked = new Set([...some, ...others]);
      expect(list.among(asked)).toEqual(new Set(keys.filter((key) => asked.has(key))));
    }),
  );
});

test("a place in the order that no head has, of before there were segments, is gone on from", () => {
  fc.assert(
    fc.property(unique, fc.nat(), (heads, nth) => {
      const orders = heads.map((one) => orderIn(one, 0)).sort();
      const [start, rank, left] = (orders[nth % Math.max(1, orders.length)] ?? "0.0.0").split(".");
      const older = `${start}.${rank}.${left}.0123456789abcdef`;
      const after = new SpanList(listOf(heads, 3)).after(older, 100).map(({ order }) => order);
      expect(after).toEqual(orders.filter((order) => order > older));
    }),
  );
});

test("spans that have expired are listed no more, and the next segments go into a part that has room", () => {
  const [one] = fc.sample(head, 1) as [Buffer];
  const gone = new SpanList(listOf([one], 1, new Date(Date.now() - 1)));
  expect([gone.after(undefined, 9), gone.find(idIn(one, 0)), gone.find("no id")]).toEqual([[], undefined, undefined]);
  const part = { _id: "t.0000", segments: [], expires_at: new Date() };
  expect(new SpanList([]).open).toEqual({ number: 0, isThere: false });
  expect(new SpanList([{ ...part, span_count: 511 }]).open).toEqual({ number: 0, isThere: true });
  expect(new SpanList([{ ...part, span_count: 512 }]).open).toEqual({ number: 1, isThere: false });
  // The parts before these have expired.
  const later = { ...part, _id: "t.0007" };
  expect(new SpanList([{ ...later, span_count: 511 }]).open).toEqual({ number: 7, isThere: true });
  expect(new SpanList([{ ...later, span_count: 512 }]).open).toEqual({ number: 8, isThere: false });
});
