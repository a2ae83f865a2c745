import { create, type DescMessage, type Message } from "@bufbuild/protobuf";
import { piecesOf } from "../../shared/query-text.js";
import type { Call } from "../../shared/rpc/call.js";
import { pageTokenOf, positionOf } from "../../shared/rpc/page-token.js";
import { listPage } from "../../shared/store/page.js";
import type { Filter, Way } from "../../shared/store/store.js";
import { ROW_CHARACTERS, shorten } from "../../shared/tools/shorten.js";
import type { Context } from "../context.js";
import { filterOf } from "../policy.js";
import type { ObjectRecord } from "../record.js";
import { originOf } from "../sharing.js";
import { KeptPages } from "./kept-pages.js";
import type { ListRequest } from "./messages.js";
import type { Model } from "./model.js";
import { camelOf } from "./names.js";
import { membersOf, type Shown } from "./view.js";

const PAGE_SIZE = 20;
/** Labels that the index is asked for: one is mostly enough to narrow a list. */
const MAX_WAYS = 3;

/** What of an object its row in a list is. */
export interface Rows {
  /** Fields of the record that a list does not read. */
  readonly without?: readonly string[];
  /** Members of the message that it does not show, because another rpc does. */
  readonly hidden?: readonly string[];
  /** References that it shows with their names; none where not given. */
  readonly named?: readonly string[];
  /** Characters of the description, where it takes more of it than of other texts to choose. */
  readonly description?: number;
}

/**
 * Lists the objects that the caller can read, built-in ones first and then the newest.
 *
 * @param output the message of a page.
 * @param rows what of an object its row leaves out.
 */
export function listObjects(model: Model, output: DescMessage, rows: Rows) {
  const pageOf = pageMaker(model, output, rows);
  // Rows that name what they refer to change with it, and are made each time.
  if ((rows.named ?? []).length > 0) return pageOf;
  const pages = new KeptPages(camelOf(model.plural));
  return (context: Context, request: ListRequest, call: Call): Promise<Message> | Message => {
    const collection = context.collection(model.noun);
    const { version } = collection;
    if (version === undefined) return pageOf(context, request, call);
    const key = pages.keyOf(call.caller, request);
    const kept = pages.get(key, version);
    if (kept !== undefined) return kept;
    return pageOf(context, request, call).then((page) => {
      if (collection.version === version) pages.keep(key, version, page);
      return page;
    });
  };
}

/** Makes a page of a list. */
function pageMaker(model: Model, output: DescMessage, rows: Rows) {
  const member = camelOf(model.plural);
  const projection = Object.fromEntries((rows.without ?? []).map((field) => [field, 0]));
  return async (context: Context, request: ListRequest, call: Call): Promise<Message> => {
    const origin = originOf(request.origin);
    const readable = filterOf(call.caller, "read");
    const { items, end, total } = await listPage(context.collection(model.noun), {
      seen: origin === undefined ? readable : { ...readable, origin },
      index: origin === undefined ? "access" : "origin",
      ways: waysOf(request),
      wanted: wantedBy(request),
      order: "_id",
      direction: -1,
      after: positionOf(request.pageToken, request),
      size: request.pageSize ?? PAGE_SIZE,
      projection,
    });
    const shown = await membersOf(context, model, items, call, rows.named ?? []);
    return create(output, {
      [member]: shown.map((one) => rowOf(model, one, rows)),
      ...(end !== undefined && { nextPageToken: pageTokenOf(end, request) }),
      ...(total !== undefined && { totalSize: total }),
    });
  };
}

/** Makes the row of what is shown of an object, which nobody else has. Hot path. */
function rowOf({ message }: Model, shown: Shown, { hidden = [], description = ROW_CHARACTERS }: Rows): Message {
  const row: Record<string, unknown> = shown;
  for (const member of hidden) row[member] = undefined;
  row.description = shorten(shown.description, description);
  row.labels = fitting(shown.labels);
  return create(message, row);
}

/** The first labels, as many as have the characters of a text in a row: fifty long ones take more than a page. */
function fitting(labels: string[]): string[] {
  let characters = 0;
  for (const [i, { length }] of labels.entries()) {
    characters += length;
    if (characters > ROW_CHARACTERS) return labels.slice(0, i);
  }
  return labels;
}

/** The ways by index to what has the labels that are asked for. */
function waysOf({ labels }: ListRequest): Way<ObjectRecord>[] {
  return labels.slice(0, MAX_WAYS).map((label) => ({ index: "labels", by: { labels: label } }));
}

/** What a row must match in addition to being readable and having the labels that an index finds. */
function wantedBy({ query, labels }: ListRequest): Filter<ObjectRecord> | undefined {
  if (query === "" && labels.length <= MAX_WAYS) return undefined;
  const more = labels.slice(MAX_WAYS);
  const named = namedLike(query);
  if (named === undefined && more.length === 0) return undefined;
  return { ...(more.length > 0 && { labels: { $all: more } }), ...named };
}

/** What has a text in its name or description, in any case; an asterisk stands for anything. Undefined for everything. */
export function namedLike(query: string): Filter<ObjectRecord> | undefined {
  return everyPiece(query, (text) => ({ $or: [{ name: text }, { description: text }] }));
}

/** What has each piece of a query where `at` looks for it; undefined for everything. */
export function everyPiece<R extends object>(query: string, at: (text: Text) => Filter<R>): Filter<R> | undefined {
  const [first, ...more] = piecesOf(query).map((piece) => at(textOf(piece)));
  return first === undefined || more.length === 0 ? first : ({ $and: [first, ...more] } as Filter<R>);
}

interface Text {
  readonly $regex: string;
  readonly $options: string;
}

/** What has a text in it, in any case. */
function textOf(piece: string): Text {
  return { $regex: piece.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"), $options: "i" };
}
