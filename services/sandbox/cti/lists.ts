import type { Account } from "./account.js";
import { accident, unsupported } from "./errors.js";
import type { FilterGroup } from "./filter-group.js";
import { testOf } from "./filters.js";
import type { Graph } from "./graph.js";
import { KINDS } from "./kinds.js";
import { OBSERVABLE_KINDS } from "./observables.js";
import { isVisible } from "./rights.js";
import { scorerOf } from "./search.js";
import { type Thing, text } from "./thing.js";

/** The arguments that every list takes. */
export interface ListArgs {
  readonly first?: number | null;
  readonly after?: string | null;
  readonly orderBy?: string | null;
  readonly orderMode?: "asc" | "desc" | null;
  readonly filters?: FilterGroup | null;
  readonly search?: string | null;
  readonly types?: readonly string[] | null;
}

/** Who looks, and at which draft. */
export interface Viewer {
  readonly graph: Graph;
  readonly account: Account;
  readonly draft: string | undefined;
}

/** One page in the API's own shape. */
export interface Connection {
  readonly edges: readonly { readonly cursor: string; readonly node: unknown }[];
  readonly pageInfo: {
    readonly startCursor: string;
    readonly endCursor: string;
    readonly hasNextPage: boolean;
    readonly hasPreviousPage: boolean;
    readonly globalCount: number;
  };
}

const DEFAULT_PAGE = 500;
const MAX_PAGE = 5_000;
const COMPUTED = ["createdBy", "creator", "objectMarking", "observable_value", "bornIn", "ethnicity"];

const DOMAIN_TYPES = new Set(["Stix-Domain-Object", ...KINDS.flatMap((kind) => [kind.type, ...kind.parents])]);
const OBSERVABLE_TYPES = new Set(["Stix-Cyber-Observable", ...OBSERVABLE_KINDS.map((kind) => kind.type)]);
const KNOWN_TYPES: Readonly<Record<string, ReadonlySet<string>>> = {
  "Stix-Domain-Object": DOMAIN_TYPES,
  "Stix-Cyber-Observable": OBSERVABLE_TYPES,
};
const CORE_TYPES = new Set(["Stix-Core-Object", "Stix-Object", ...DOMAIN_TYPES, ...OBSERVABLE_TYPES]);

/** What matches, of one base type, before paging; type names it does not know are ignored. */
export function matching(base: string, args: ListArgs, viewer: Viewer): Thing[] {
  const known = KNOWN_TYPES[base] ?? CORE_TYPES;
  const types = (args.types ?? []).filter((type) => known.has(type));
  // First: most of what there is is of another type, and to filter and to search costs more.
  const ofType = [...viewer.graph.things.values()].filter(
    (thing) => thing.types.includes(base) && (types.length === 0 || types.some((type) => thing.types.includes(type))),
  );
  return select(ofType, args, viewer);
}

/** Those the viewer may see that pass the filters and the search. */
export function select(things: Iterable<Thing>, args: ListArgs, { graph, account, draft }: Viewer): Thing[] {
  const test = testOf(args.filters, graph);
  const score = scorerOf(args.search ?? "");
  const found: Thing[] = [];
  for (const thing of things) {
    if (isVisible(thing, account, draft) && test(thing) && score(thing) > 0) found.push(thing);
  }
  return found;
}

/** One page, after a cursor that holds the sort values of the last row. */
export function pageOf(things: readonly Thing[], args: ListArgs): Connection {
  const order = args.orderBy ?? undefined;
  if (order !== undefined && COMPUTED.includes(order)) {
    throw unsupported("Runtime mapping is only possible with elastic >=7.12", { order });
  }
  const first = Math.min(args.first ?? DEFAULT_PAGE, MAX_PAGE);
  const after = args.after ? decode(args.after) : undefined;
  if (first <= 0) return page([], [], first === 0, 0);
  const keys = keysOf(order, args, things.length);
  const down = order === undefined ? false : args.orderMode === "desc" && order !== "_score";
  const rows = things.map((thing) => ({ thing, sort: [...keys(thing), thing.standardId] }));
  const compare = (a: readonly unknown[], b: readonly unknown[]) => compareSorts(a, b, down);
  rows.sort((a, b) => compare(a.sort, b.sort));
  const rest = after === undefined ? rows : rows.filter((row) => compare(row.sort, after) > 0);
  const taken = rest.slice(0, first);
  const sorts = taken.map(({ sort }) => sort);
  return page(
    taken.map(({ thing }) => thing),
    sorts,
    taken.length === first,
    things.length,
  );
}

/** A score hangs on how many match, so that it moves while others write: a cursor of it repeats and skips. */
function keysOf(order: string | undefined, args: ListArgs, matches: number): (thing: Thing) => unknown[] {
  if (order === "_score" || (order === undefined && (args.search ?? "").trim() !== "")) {
    const score = scorerOf(args.search ?? "");
    return (thing) => [-score(thing) / (1 + Math.log1p(matches))];
  }
  if (order === undefined) return () => [];
  return (thing) => [sortValue(thing, order)];
}

function sortValue(thing: Thing, order: string): string | number | null {
  if (order === "entity_type") return thing.type.toLowerCase();
  if (order === "created_at" || order === "created" || order === "timestamp") return Date.parse(thing.createdAt);
  if (order === "updated_at" || order === "modified") return Date.parse(thing.updatedAt);
  const value = thing.attributes[order];
  if (typeof value === "number") return value;
  const own = text(thing, order);
  if (own === undefined) return null;
  return /^\d{4}-\d\d-\d\dT/.test(own) ? Date.parse(own) : own.toLowerCase();
}

function compareSorts(a: readonly unknown[], b: readonly unknown[], down: boolean): number {
  for (let at = 0; at < Math.max(a.length, b.length); at += 1) {
    const [x, y] = [a[at] ?? null, b[at] ?? null];
    if (x === y) continue;
    if (x === null) return 1;
    if (y === null) return -1;
    const less = typeof x === typeof y ? (x as string) < (y as string) : String(x) < String(y);
    // The tie-breaker always ascends.
    return (less ? -1 : 1) * (down && at < a.length - 1 ? -1 : 1);
  }
  return 0;
}

function page(nodes: readonly unknown[], sorts: readonly unknown[], hasNextPage: boolean, count: number): Connection {
  const cursors = sorts.map((sort) => Buffer.from(JSON.stringify(sort)).toString("base64"));
  return {
    edges: nodes.map((node, index) => ({ cursor: cursors[index] as string, node })),
    pageInfo: {
      startCursor: cursors[0] ?? "",
      endCursor: cursors.at(-1) ?? "",
      hasNextPage,
      hasPreviousPage: false,
      globalCount: count,
    },
  };
}

function decode(cursor: string): readonly unknown[] {
  const json = Buffer.from(cursor, "base64").toString("utf8");
  try {
    return JSON.parse(json) as unknown[];
  } catch {
    throw accident(`Unexpected token in "${json}" is not valid JSON`);
  }
}
