import type { DocCollection } from "../shared/store/store.js";
import type { KeptField, PagedField, PageRecord, PayloadField } from "./store.js";

// What a span says may be as long as an export, and a record may not: MongoDB
// takes 16 MiB, and whoever reads a page of a field should not read it all.

/** Bytes of a stored page. */
export const PAGE_BYTES = 64 << 10;
/** Bytes of all fields that are kept whole with a span's payload record. */
const WHOLE_BYTES = 32 << 10;

/** A payload as it is kept: its record's fields, and the pages of what is too long for it. */
export interface Paged {
  readonly fields: readonly KeptField[];
  readonly pages: readonly Buffer[];
}

/** Puts fields on pages once those before them fill the record. */
export function paged(payload: readonly PayloadField[]): Paged {
  const texts: Buffer[] = [];
  let [whole, at] = [0, 0];
  const fields = payload.map((entry): KeptField => {
    if ("same" in entry) return entry;
    const { field, text, json } = entry;
    const bytes = Buffer.byteLength(text);
    if (whole + bytes <= WHOLE_BYTES) {
      whole += bytes;
      return entry;
    }
    texts.push(Buffer.from(text));
    at += bytes;
    return { field, at: at - bytes, bytes, json };
  });
  return { fields, pages: texts.length === 0 ? [] : cut(Buffer.concat(texts)) };
}

/** The id of a span's page, which are counted from 0. */
export function pageId(span: string, page: number): string {
  return `${span}.${page}`;
}

/** Reads a part of a field that is kept on the pages of a span: bytes from one to before another. */
export async function readPaged(
  pages: DocCollection<PageRecord>,
  span: string,
  { at }: PagedField,
  from: number,
  to: number,
): Promise<Buffer> {
  const first = Math.floor((at + from) / PAGE_BYTES);
  const count = Math.ceil((at + to) / PAGE_BYTES) - first;
  const ids = Array.from({ length: count }, (_, n) => pageId(span, first + n));
  const found = new Map((await pages.find({ _id: { $in: ids } }).toArray()).map((page) => [page._id, page.bytes]));
  const all = Buffer.concat(ids.map((id) => found.get(id) ?? NOTHING));
  if (all.length < at + to - first * PAGE_BYTES) throw new Error("a page of a payload is gone");
  return all.subarray(at + from - first * PAGE_BYTES, at + to - first * PAGE_BYTES);
}

const NOTHING = new Uint8Array(0);

function cut(bytes: Buffer): Buffer[] {
  return Array.from({ length: Math.ceil(bytes.length / PAGE_BYTES) }, (_, n) =>
    bytes.subarray(n * PAGE_BYTES, (n + 1) * PAGE_BYTES),
  );
}
