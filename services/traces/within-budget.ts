import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { ListPage } from "../shared/store/page.js";
import { compileEncode, type Encode } from "../shared/tools/codec/encode.js";

/** Bytes of JSON that the rows of an answer add up to at most: a result of a tool is cut at 40 KB. */
const BUDGET = 32 << 10;
/** Bytes of JSON that a row has at most, as long as shorter previews make it so. */
const ROW_BYTES = 8 << 10;
/** Rows of the first read: few, because some may find no room. Each later read takes twice as many, because each read is planned again. */
const CHUNK = 10;

/** How rows are read and shown. */
export interface Reading<T, Row extends DescMessage> {
  /** Reads so many from where others ended; undefined for the beginning. */
  read(after: string | undefined, size: number): Promise<ListPage<T>>;
  /** What each of them is in the answer; undefined where it is not shown. */
  show(items: readonly T[]): Promise<readonly (MessageShape<Row> | undefined)[]>;
  readonly schema: Row;
  /** What else the answer holds. */
  readonly beside?: number;
  readonly size: number;
  readonly after: string | undefined;
}

/** Rows of a page, and where it ended; undefined where there is no next page. */
export interface BoundedPage<Row> {
  readonly rows: Row[];
  readonly end: string | undefined;
}

/**
 * Reads a page of at most so many rows that ends where they add up to the
 * budget. A row that is larger than the budget is a page of its own.
 */
export async function pageWithinBudget<T extends { readonly order: string }, Row extends DescMessage>({
  read,
  show,
  schema,
  beside = 0,
  size,
  after,
}: Reading<T, Row>): Promise<BoundedPage<MessageShape<Row>>> {
  const budget = createBudget(schema, beside);
  const rows: MessageShape<Row>[] = [];
  let at = after;
  for (let left = size, chunk = CHUNK; left > 0; left -= chunk, chunk *= 2) {
    const asked = Math.min(left, chunk);
    const { items, end } = await read(at, asked);
    const shown = await show(items);
    for (const [i, row] of shown.entries()) {
      if (row === undefined) continue;
      if (!budget.takes(row)) return { rows, end: items[i - 1]?.order ?? at };
      rows.push(row);
    }
    // A short page that is not the last has cost what a page may.
    if (end === undefined || items.length < asked) return { rows, end };
    at = end;
  }
  return { rows, end: at };
}

/** The first of some rows: as many as the budget takes, and one at least. */
export function rowsWithinBudget<Row extends DescMessage>(
  schema: Row,
  rows: readonly MessageShape<Row>[],
): MessageShape<Row>[] {
  const budget = createBudget(schema);
  const past = rows.findIndex((row) => !budget.takes(row));
  return past < 0 ? [...rows] : rows.slice(0, past);
}

/** A row with as much of its previews, of so many characters at most, as a row has room for. */
export function rowOf<Row extends DescMessage>(
  schema: Row,
  previewing: (chars: number) => MessageShape<Row>,
  most: number,
): MessageShape<Row> {
  for (let chars = most; ; chars >>= 1) {
    const row = previewing(chars);
    if (chars === 0 || bytesOf(schema, row) <= ROW_BYTES) return row;
  }
}

/** What a message takes of a tool's answer, in bytes. */
export function bytesOf<Row extends DescMessage>(schema: Row, row: MessageShape<Row>): number {
  const before = counted.get(row);
  if (before !== undefined) return before;
  let encode = encoders.get(schema);
  if (encode === undefined) {
    encode = compileEncode(schema);
    encoders.set(schema, encode);
  }
  const bytes = Buffer.byteLength(encode(row));
  counted.set(row, bytes);
  return bytes;
}

/** Of rows that were counted: a row that is cut to its own room is then counted in its page. */
const counted = new WeakMap<object, number>();

/** A page is written once to be counted, so by the writer that answers it: toJsonString takes five times as long. */
const encoders = new Map<DescMessage, Encode>();

function createBudget<Row extends DescMessage>(schema: Row, beside = 0) {
  let used = beside;
  let isFirst = true;
  return {
    /** Whether the row still finds room; the first always does. */
    takes(row: MessageShape<Row>): boolean {
      used += bytesOf(schema, row);
      const fits = isFirst || used <= BUDGET;
      isFirst = false;
      return fits;
    },
  };
}
