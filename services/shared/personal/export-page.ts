import type { MessageInitShape } from "@bufbuild/protobuf";
import type { PersonalRecordSchema } from "#proto/auth/v1/personal_data_pb.js";
import { foreignPageToken, pageTokenOf, positionOf } from "../rpc/page-token.js";
import type { Base, DocCollection, Filter } from "../store/store.js";
import { plainOf } from "./plain.js";

/** Something that is stored, and its place in an order. */
export interface Placed<T extends object = object> {
  readonly place: string;
  readonly record: T;
}

/** Records of one kind that a service holds about a person. */
export interface PersonalPart {
  readonly kind: string;
  /** Fields that nobody is given. */
  readonly without?: readonly string[];
  /** Those after a place, as they are asked for; all for "". */
  read(after: string): AsyncIterable<Placed>;
}

/** A page of what a service holds about a person. */
interface ExportPage {
  readonly records: MessageInitShape<typeof PersonalRecordSchema>[];
  readonly nextPageToken: string;
}

/** What its page tokens are made for. */
const LIST = "personal data";
/** A page ends with the record that makes it this long, in characters. */
const PAGE_CHARACTERS = 256 << 10;

/** The records of all parts, part after part. @throws ConnectError invalid_argument for another list's token. */
export async function exportPage(parts: readonly PersonalPart[], pageToken: string): Promise<ExportPage> {
  const [, first = "0", place = ""] = /^(\d{1,3}):(.*)$/s.exec(positionOf(pageToken, LIST) ?? "0:") ?? [];
  if (Number(first) >= parts.length) throw foreignPageToken();
  const records: ExportPage["records"] = [];
  let [length, after] = [0, place];
  for (let at = Number(first); at < parts.length; at++, after = "") {
    const { kind, without, read } = parts[at]!;
    for await (const one of read(after)) {
      const json = plainOf(one.record, without);
      records.push({ kind, json });
      length += json.length;
      if (length >= PAGE_CHARACTERS) return { records, nextPageToken: pageTokenOf(`${at}:${one.place}`, LIST) };
    }
  }
  return { records, nextPageToken: "" };
}

/** Documents along an index that ends with a text that no two of them have alike. */
export interface Along<T extends Base> {
  readonly by: Filter<T>;
  readonly index: string;
  readonly order: keyof T & string;
  readonly direction: 1 | -1;
}

/** Reads documents after a place, or from it on. */
export async function* along<T extends Base>(
  collection: DocCollection<T>,
  { by, index, order, direction }: Along<T>,
  after: string,
  from: "after" | "at" = "after",
): AsyncIterable<Placed<T>> {
  const range = `${direction === 1 ? "$gt" : "$lt"}${from === "at" ? "e" : ""}`;
  const filter = after === "" ? by : { ...by, [order]: { [range]: after } };
  for await (const record of collection.find(filter, { sort: { [order]: direction }, hint: index }))
    yield { place: record[order] as string, record };
}

/** Stands between the places of what contains and what is contained: no order has it. */
const WITHIN = "\n";

/**
 * What others contain, those in their order, and in each what it contains.
 *
 * @param outer reads those from a place on; @param inner what one contains after a place.
 */
export async function* within<T extends object>(
  outer: (from: string) => AsyncIterable<Placed<T>>,
  inner: (one: T, after: string) => AsyncIterable<Placed>,
  after: string,
): AsyncIterable<Placed> {
  const cut = after.indexOf(WITHIN);
  const [from, rest] = cut < 0 ? ["", ""] : [after.slice(0, cut), after.slice(cut + 1)];
  for await (const one of outer(from)) {
    const start = one.place === from ? rest : "";
    for await (const { place, record } of inner(one.record, start))
      yield { place: `${one.place}${WITHIN}${place}`, record };
  }
}

/** Few records, which are read at once, in the order of their ids. */
export async function* few(records: Promise<readonly (Base & object)[]>, after: string): AsyncIterable<Placed> {
  const all = [...(await records)].sort((a, b) => (a._id < b._id ? -1 : 1));
  for (const record of all) if (record._id > after) yield { place: record._id, record };
}
