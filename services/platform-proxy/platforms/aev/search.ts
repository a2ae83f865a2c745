import type { Timestamp } from "@bufbuild/protobuf/wkt";
import { countOf, rowsOf } from "../../lib/answers.js";
import { instantOf } from "../../lib/time.js";
import type { Platform } from "../../platform.js";
import type { TenantScope } from "./tenant.js";

/** A condition on one field; several values are alternatives. */
export interface Filter {
  readonly key: string;
  readonly operator: "eq" | "contains" | "gt" | "lt";
  readonly values: readonly string[];
}

/** An order by one field. */
export interface Sort {
  readonly property: string;
  /** Rows without a value stand last in an ascending order, first in a descending one; asked to do otherwise, the platform fails. */
  readonly direction: "asc" | "desc";
}

/** A search as the platform takes it. */
export interface Search {
  /** The route inside the tenant, such as /scenarios/search. */
  readonly route: string;
  /** The field that holds a row's id. */
  readonly idKey: string;
  /** Text to look for: where the platform looks, and with _ and % for any text. */
  readonly query?: string | undefined;
  readonly filters?: readonly Filter[] | undefined;
  readonly sorts: readonly [Sort, ...Sort[]];
  /** What else the body of this search takes. */
  readonly more?: object | undefined;
}

/** The most that the platform gives at once. */
const MAX_SIZE = 1_000;

/** Reads the rows of a search one page of a thousand after the other, up to `limit` rows. */
export async function* searchAll<Row>(
  platform: Platform,
  tenant: TenantScope,
  search: Search,
  limit: number,
): AsyncGenerator<Row, void> {
  for (let page = 0; page * MAX_SIZE < limit; page++) {
    const { rows, totalSize } = await searchOnce<Row>(platform, tenant, search, page, MAX_SIZE);
    yield* rows;
    if ((page + 1) * MAX_SIZE >= totalSize) return;
  }
}

/** A condition where something is given, none where not. */
export function oneOf(key: string, values: readonly string[], operator: "eq" | "contains" = "eq"): Filter[] {
  return values.length === 0 ? [] : [{ key, operator, values }];
}

/**
 * Whether one of some values cannot be compared with at the platform: it takes
 * the words for truth values for such, and fails over every field that is none.
 */
export function isTruthWord(values: readonly string[]): boolean {
  return values.some((value) => /^(?:true|false)$/i.test(value));
}

/** Whether a text has letters of ASCII alone: of others the platform does not find all in any case. */
export function isAscii(text: string): boolean {
  return /^[\x20-\x7e]*$/.test(text);
}

/** Conditions on an instant; the platform takes full instants only. */
export function between(key: string, after: Timestamp | undefined, before: Timestamp | undefined): Filter[] {
  const at = (operator: "gt" | "lt", time: Timestamp): Filter => ({ key, operator, values: [instantOf(time)] });
  return [...(after === undefined ? [] : [at("gt", after)]), ...(before === undefined ? [] : [at("lt", before)])];
}

interface Envelope {
  readonly content?: unknown;
  readonly totalElements?: unknown;
}

/** Reads one page as the platform gives it; see list.ts for what is wrong with its pages. */
export async function searchOnce<Row>(
  platform: Platform,
  tenant: TenantScope,
  { route, idKey, query, filters = [], sorts, more }: Search,
  page: number,
  size: number,
): Promise<{ readonly rows: readonly Row[]; readonly totalSize: number }> {
  const reply = await platform.rest<Envelope | undefined>({
    verb: "POST",
    path: tenant.path(route),
    read: true,
    body: {
      ...more,
      page,
      size,
      ...(query !== undefined && { textSearch: query }),
      sorts,
      filterGroup: { mode: "and", filters: filters.map((filter, i) => ({ id: String(i), mode: "or", ...filter })) },
    },
  });
  return {
    rows: rowsOf<Row>(platform.server, reply?.content, idKey),
    totalSize: countOf(platform.server, reply?.totalElements),
  };
}
