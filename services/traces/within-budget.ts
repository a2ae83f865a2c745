import type { DescMessage, MessageShape } from "@bufbuild/protobuf";
import type { ListPage } from "../shared/store/page.js";
import { compileEncode, type Encode } from "../shared/tools/codec/encode.js";

/** Bytes of JSON that the rows of an answer add up to at most: a result of a tool is cut at 40 KB. */
const BUDGET = 32 << 10;
/** Bytes of JSON that a row has at most, as long as shorter previews make it so. */
const ROW_BYTES = 8 << 10;
/** Rows of the first read: few, because some may find no room. Each later read takes twice as many, because each read is planned again. */
const CHUNK = 10;

/** A message, and what it takes of a tool's answer, in bytes. */
export interface Counted<M> {
  readonly row: M;
  readonly bytes: number;
}

/** How rows are read and shown. */
export interface Reading<T, Row> {
  /** Reads so many from where others ended; undefined for the beginning. */
  read(after: string | undefined, size: number): Promise<ListPage<T>>;
  /** What each of them is in the answer; undefined where it is not shown. */
  show(items: readonly T[]): Promise<readonly (Counted<Row> | undefined)[]>;
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
export async function pageWithinBudget<T extends { readonly order: string }, Row>({
  read,
  show,
  beside = 0,
  size,
  after,
}: Reading<T, Row>): Promise<BoundedPage<Row>> {
  const budget = createBudget(beside);
  const rows: Row[] = [];
  let at = after;
  for (let left = size, chunk = CHUNK; left > 0; left -= chunk, chunk *= 2) {
    const asked = Math.min(left, chunk);
    const { items, end } = await read(at, asked);
    const shown = await show(items);
    for (const [i, row] of shown.entries()) {
      if (row === undefined) continue;
      if (!budget.takes(row)) return { rows, end: items[i - 1]?.order ?? at };
      rows.push(row.row);
    }
    // A short page that is not the last has cost what a page may.
    if (end === undefined || items.length < asked) return { rows, end };
    at = end;
  }
  return { rows, end: at };
}

/** The first of some rows: as many as the budget takes, and one at least. */
export function rowsWithinBudget<M>(rows: readonly Counted<M>[]): M[] {
  const budget = createBudget();
  const past = rows.findIndex((row) => !budget.takes(row));
  return (past < 0 ? rows : rows.slice(0, past)).map(({ row }) => row);
}

/** A row with as much of its previews, of so many characters at most, as a row has room for. */
export function rowOf<Row extends DescMessage>(
  schema: Row,
  previewing: (chars: number) => MessageShape<Row>,
  most: number,
): Counted<MessageShape<Row>> {
  for (let chars = most; ; chars >>= 1) {
    const row = previewing(chars);
    const bytes = bytesOf(schema, row);
    if (chars === 0 || bytes <= ROW_BYTES) return { row, bytes };
  }
}

function bytesOf<Row extends DescMessage>(schema: Row, row: MessageShape<Row>): number {
  let encode = encoders.get(schema);
  if (encode === undefined) {
    encode = compileEncode(schema);
    encoders.set(schema, encode);
  }
  return Buffer.byteLength(encode(row));
}

/** A page is written once to be counted, so by the writer that answers it: toJsonString takes five times as long. */
const encoders = new Map<DescMessage, Encode>();

function createBudget(beside = 0) {
  let used = beside;
  let isFirst = true;
  return {
    /** Whether the row still finds room; the first always does. */
    takes({ bytes }: Counted<unknown>): boolean {
      used += bytes;
      const fits = isFirst || used <= BUDGET;
      isFirst = false;
      return fits;
    },
  };
}
