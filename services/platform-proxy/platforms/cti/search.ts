import { Order } from "#proto/cti/v1/knowledge_pb.js";
import type { PageRequest, Paging } from "../../lib/pages.js";
import * as pages from "../../lib/pages.js";
import { type Ordering, orderOf } from "./filters.js";
import { cursorAfter, nodesOf, type Page } from "./paging.js";
import { all, any, every, type Filter, type FilterGroup } from "./resolve.js";
import { isOneToken, partsOf, refang, searchTextOf } from "./text.js";

// The platform's relevance hangs on all that is written, so that a cursor of
// that order repeats rows and skips others. The best matches are one page; what
// follows is the rest of the matches, in an order that stays.

/** What a list that is searched by words takes. */
export interface SearchRequest extends PageRequest {
  readonly query: string;
  readonly order: Order;
}

/** Where the text of a query may stand, by the platform's attributes. */
export interface Places {
  /** What a part of is looked for, such as the middle of an address. */
  readonly parts: readonly string[];
  /** What is searched by words. */
  readonly words: readonly string[];
}

/** The values of observables. */
export const VALUES: readonly string[] = [
  "value",
  "name",
  "hashes.MD5",
  "hashes.SHA-1",
  "hashes.SHA-256",
  "hashes.SHA-512",
];

/** What stands for the value of observables that have none. */
export const OTHER_VALUES: readonly string[] = [
  "account_login",
  "attribute_key",
  "card_number",
  "command_line",
  "fingerprint_md5",
  "fingerprint_sha256",
  "iban",
  "issuer",
  "path",
  "persona_name",
  "subject",
  "title",
  "user_id",
];

/** The same of observables whose value is a number. */
const NUMBERS: readonly string[] = ["dst_port", "number", "pid", "src_port"];

/** Where observables hold what is looked for. */
export const OBSERVABLE_PLACES: Places = {
  parts: [...VALUES, ...OTHER_VALUES, "url"],
  words: ["description", "x_opencti_description", "body", "x_opencti_additional_names"],
};

/** Where indicators do. */
export const INDICATOR_PLACES: Places = { parts: ["name", "pattern"], words: ["description", "pattern"] };

const EVERYWHERE: Places = {
  parts: [...VALUES, ...OTHER_VALUES, "aliases", "x_opencti_aliases", "x_mitre_id"],
  words: ["description", "x_opencti_description", "pattern"],
};

/** The variables that say what a list is to hold. */
export interface Selection {
  readonly search?: string | undefined;
  readonly filters?: FilterGroup | undefined;
}

/**
 * What a query selects. A word that the platform would cut into tokens, such as
 * a part of an address, is looked for inside of values.
 */
export function selectionOf(query: string, filters: FilterGroup | undefined, places = EVERYWHERE): Selection {
  const parts = partsOf(query);
  if (parts === undefined) return { search: searchTextOf(query), filters };
  return { filters: every(insideOf(parts, places), filters) };
}

/** What a query selects of objects that are known by their values: any part of one will do. */
export function valuesOf(query: string, filters: FilterGroup | undefined): Selection {
  const text = refang(query);
  const { parts, words } = OBSERVABLE_PLACES;
  if (text === "") return { filters };
  if (/["*]/.test(text)) {
    const selection = selectionOf(query, filters, OBSERVABLE_PLACES);
    if (selection.search === undefined) return selection;
    // The search of the platform itself leaves some of these out.
    return {
      filters: every(all({ key: [...parts, ...words], values: [selection.search], operator: "search" }), filters),
    };
  }
  const inside = insideOf([text], OBSERVABLE_PLACES);
  const numbers: readonly Filter[] = A_NUMBER.test(text) ? [{ key: NUMBERS, values: [text] }] : [];
  return { filters: every(any(...inside.filters, ...numbers), filters) };
}

/** A number that the platform's index takes for one. */
const A_NUMBER = /^\d{1,9}$/;

/** What holds texts inside of some attributes, or words of one anywhere. Long values are not indexed as a whole: of those it may be in a token. */
function insideOf(texts: readonly string[], { parts, words }: Places): FilterGroup {
  const inside = all(...texts.map((text): Filter => ({ key: parts, values: [text], operator: "contains" })));
  const [text = "", ...others] = texts;
  if (others.length > 0) return inside;
  const anywhere: Filter[] = [
    { key: [...parts, ...words], values: [searchTextOf(text) ?? text], operator: "search" },
    ...(isOneToken(text) ? [{ key: parts, values: [`*${text}`], operator: "search" } as const] : []),
    ...shownBefore(text, parts),
  ];
  return any(...inside.filters, ...anywhere);
}

/** The identifier that the platform shows in brackets before the name of a technique, and searches without them. */
function shownBefore(text: string, parts: readonly string[]): readonly Filter[] {
  const [, identifier] = /^\[(\w+(?:\.\w*)?)\]?$/.exec(text) ?? [];
  if (identifier === undefined || !parts.includes("x_mitre_id")) return [];
  return [{ key: ["x_mitre_id"], values: [identifier], operator: "starts_with" }];
}

/** The variables of one page. */
export interface PageVariables extends Selection, Ordering {
  readonly first: number;
  readonly after: string | null;
}

/**
 * Reads one page of a list that is searched by words: the best matches first,
 * on one page, and then the newest of the others.
 *
 * @param query everything else that decides what the pages hold.
 */
export async function searchPage<Node extends { readonly id: string }>(
  request: SearchRequest,
  query: unknown,
  selection: Selection,
  read: (variables: PageVariables) => Promise<Page<Node> | null>,
): Promise<{ readonly nodes: readonly Node[]; readonly paging: Paging }> {
  const isRanked = request.order === Order.UNSPECIFIED && selection.search !== undefined;
  const order = request.order === Order.UNSPECIFIED ? orderOf(Order.NEWEST) : orderOf(request.order);
  const place = pages.placeOf(request, [query, selection, request.order]);
  const { shown, after } = positionOf(place.cursor);
  const isBest = isRanked && place.cursor === undefined;
  const page = await read({
    ...selection,
    ...(shown.length > 0 && { filters: every(selection.filters, all(notIn(shown))) }),
    ...(!isBest && order),
    first: place.size,
    after,
  });
  if (page === null) return { nodes: [], paging: { totalSize: 0 } };
  const nodes = nodesOf(page);
  const next = isBest ? "" : cursorAfter(page);
  const cursor = next === undefined ? undefined : `${packed(isBest ? nodes.map(({ id }) => id) : shown)}~${next}`;
  const paging = pages.pagingOf(place, {
    totalSize: page.pageInfo.globalCount + shown.length,
    isLowerBound: page.isLowerBound === true && cursor !== undefined,
    rowCount: nodes.length,
    cursor,
  });
  return { nodes, paging };
}

const notIn = (ids: readonly string[]) => ({ key: ["ids"], values: ids, operator: "not_eq" }) as const;

/** Ids in as little as they are. */
const packed = (ids: readonly string[]): string =>
  Buffer.from(ids.join("").replaceAll("-", ""), "hex").toString("base64url");

/** The ids that the page of the best matches showed, and the platform's cursor. */
function positionOf(cursor: string | undefined): { readonly shown: string[]; readonly after: string | null } {
  if (cursor === undefined) return { shown: [], after: null };
  const at = cursor.indexOf("~");
  const hex = Buffer.from(cursor.slice(0, at), "base64url").toString("hex");
  const shown = (hex.match(/.{32}/g) ?? []).map((id) =>
    id.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, "$1-$2-$3-$4-$5"),
  );
  return { shown, after: cursor.slice(at + 1) || null };
}
