import { database, unsupported } from "./errors.js";
import type { Graph } from "./graph.js";
import { KINDS } from "./kinds.js";
import { OBSERVABLE_KINDS } from "./observables.js";
import { aliasesOf, type Thing } from "./thing.js";

/** A filter group as the API takes it. */
export interface FilterGroup {
  readonly mode: "and" | "or";
  readonly filters: readonly Filter[];
  readonly filterGroups: readonly FilterGroup[];
}

interface Filter {
  readonly key: readonly string[];
  readonly values?: readonly unknown[] | null;
  readonly operator?: string | null;
  readonly mode?: "and" | "or" | null;
}

export type Test = (thing: Thing) => boolean;

const SPECIAL = [
  "id",
  "ids",
  "internal_id",
  "standard_id",
  "entity_type",
  "created_at",
  "updated_at",
  "created",
  "modified",
  "confidence",
  "revoked",
  "createdBy",
  "creator_id",
  "objectMarking",
  "objectLabel",
  "externalReferences",
  "killChainPhases",
  "objects",
  "alias",
  "regardingOf",
  "fromId",
  "toId",
  "fromOrToId",
  "fromTypes",
  "toTypes",
  "relationship_type",
  "elementWithTargetTypes",
  "connections",
  "sightedBy",
  "bulkSearchKeywords",
  "workflow_id",
  "x_opencti_workflow_id",
  "x_opencti_score",
  "x_opencti_description",
  "hashes.MD5",
  "hashes.SHA-1",
  "hashes.SHA-256",
  "hashes.SHA-512",
  "event_type",
  "event_scope",
  "context_data.id",
  "start_time",
  "stop_time",
  "first_seen",
  "last_seen",
  "definition",
  "definition_type",
  "phase_name",
  "kill_chain_name",
  "source_name",
  "url",
  "external_id",
  "category",
];

const KEYS = new Set([
  ...SPECIAL,
  ...KINDS.flatMap((kind) => Object.keys(kind.attributes)),
  ...OBSERVABLE_KINDS.flatMap((kind) => Object.keys(kind.attributes)),
]);

/**
 * Makes a test of a filter group.
 *
 * @throws ApiError for an unknown key, a script, a malformed `within` or date.
 */
export function testOf(group: FilterGroup | null | undefined, graph: Graph): Test {
  if (group === null || group === undefined) return () => true;
  const tests = [
    ...group.filters.map((filter) => testOfFilter(filter, graph)),
    ...group.filterGroups.map((inner) => testOf(inner, graph)),
  ];
  if (tests.length === 0) return () => true;
  return group.mode === "or"
    ? (thing) => tests.some((test) => test(thing))
    : (thing) => tests.every((test) => test(thing));
}

function testOfFilter(filter: Filter, graph: Graph): Test {
  const keys = filter.key;
  const unknown = keys.filter((key) => !KEYS.has(key));
  if (unknown.length > 0)
    throw unsupported("Incorrect filter keys not existing in any schema definition", { keys: unknown });
  const operator = filter.operator ?? "eq";
  if (operator === "script") throw unsupported("Filter script is not allowed", { filter });
  const values = filter.values ?? [];
  if (keys[0] === "regardingOf") return regardingOf(values as RegardingOf[], graph, operator === "not_eq");
  const compare = comparisonOf(operator, values, filter);
  const all = filter.mode === "and";
  return (thing) => keys.some((key) => compare(expand(key, thing, graph), all));
}

interface RegardingOf {
  readonly key: string;
  readonly values: readonly string[];
}

function regardingOf(values: readonly RegardingOf[], graph: Graph, not: boolean): Test {
  const of = (key: string) => values.find((value) => value.key === key)?.values;
  const types = of("relationship_type");
  const ids = of("id");
  return (thing) => {
    const found = graph.relationsOf(thing.id).some((relationship) => {
      const { from, to, relation } = relationship.ends!;
      if (types !== undefined && !types.includes(relation)) return false;
      return ids === undefined || ids.includes(from === thing.id ? to : from);
    });
    return found !== not;
  };
}

/** The values that an element has for a key; references are internal ids, as the platform indexes them. */
function expand(key: string, thing: Thing, graph: Graph): readonly unknown[] {
  const { refs, ends } = thing;
  switch (key) {
    case "id":
    case "internal_id":
      return [thing.id];
    case "ids":
      return [thing.id, thing.standardId];
    case "standard_id":
      return [thing.standardId];
    case "entity_type":
      return thing.types;
    case "created_at":
    case "created":
      return [thing.attributes[key] ?? thing.createdAt];
    case "updated_at":
    case "modified":
      return [thing.updatedAt];
    case "createdBy":
      return refs.author === undefined ? [] : [refs.author];
    case "creator_id":
      return [thing.creator];
    case "objectMarking":
      return refs.markings;
    case "objectLabel":
      return refs.labels.flatMap((id) => {
        const label = graph.get(id);
        return label === undefined ? [id] : [id, label.standardId, label.attributes.value];
      });
    case "externalReferences":
    case "killChainPhases":
    case "objects":
      return refs[key];
    case "alias":
      return aliasesOf(thing);
    case "bulkSearchKeywords":
      return [thing.attributes.name, thing.attributes.value, ...aliasesOf(thing)];
    case "relationship_type":
      return ends === undefined ? [] : [ends.relation, ...thing.types];
    case "fromId":
      return ends === undefined ? [] : [ends.from];
    case "toId":
      return ends === undefined ? [] : [ends.to];
    case "fromOrToId":
      return ends === undefined ? [] : [ends.from, ends.to];
    case "fromTypes":
      return ends === undefined ? [] : (graph.get(ends.from)?.types ?? []);
    case "toTypes":
      return ends === undefined ? [] : (graph.get(ends.to)?.types ?? []);
  }
  if (key.startsWith("hashes.")) {
    const hashes = (thing.attributes.hashes ?? []) as { algorithm: string; hash: string }[];
    return hashes.filter(({ algorithm }) => `hashes.${algorithm.toUpperCase()}` === key).map(({ hash }) => hash);
  }
  const value = thing.attributes[key];
  if (value === undefined || value === null) return [];
  return Array.isArray(value) ? value : [value];
}

type Compare = (own: readonly unknown[], all: boolean) => boolean;

function comparisonOf(operator: string, values: readonly unknown[], filter: Filter): Compare {
  const positive = operator.replace(/^not_/, "");
  const quantified = (matches: (own: unknown, wanted: string) => boolean): Compare => {
    const wanted = values.map((value) => String(value).toLowerCase());
    return (own, all) => {
      const one = (value: string) => own.some((mine) => matches(mine, value));
      return all ? wanted.every(one) : wanted.some(one);
    };
  };
  const textual = (matches: (own: string, wanted: string) => boolean) =>
    quantified((own, wanted) => matches(String(own).toLowerCase(), wanted));
  const base = (): Compare => {
    switch (positive) {
      case "eq":
      case "only_eq_to":
        return textual((own, wanted) => own === wanted);
      case "nil":
        return (own) => own.length === 0;
      case "contains":
        return textual((own, wanted) => own.includes(wanted));
      case "starts_with":
        return textual((own, wanted) => own.startsWith(wanted));
      case "ends_with":
        return textual((own, wanted) => own.endsWith(wanted));
      case "match":
      case "search":
        return textual((own, wanted) => wanted.split(/\s+/).some((word) => own.includes(word)));
      case "wildcard":
        return textual((own, wanted) => new RegExp(`^${wanted.split("*").map(escapePattern).join(".*")}$`).test(own));
      case "gt":
      case "gte":
      case "lt":
      case "lte":
        return ordered(positive, values);
      case "within":
        return within(values, filter);
      default:
        throw unsupported("Unsupported operator", { filter });
    }
  };
  const compare = base();
  return operator.startsWith("not_") ? (own, all) => !compare(own, all) : compare;
}

function ordered(operator: string, values: readonly unknown[]): Compare {
  const limit = limitOf(values[0]);
  const holds = (own: number) =>
    operator === "gt"
      ? own > limit
      : operator === "gte"
        ? own >= limit
        : operator === "lt"
          ? own < limit
          : own <= limit;
  return (own) => own.some((value) => holds(typeof value === "string" ? Date.parse(value) : Number(value)));
}

function limitOf(value: unknown): number {
  const text = String(value);
  const number = Number(text);
  if (text !== "" && !Number.isNaN(number)) return number;
  const at = relative(text) ?? Date.parse(text);
  if (Number.isNaN(at)) throw database("Fail to execute engine pagination");
  return at;
}

const UNITS: Readonly<Record<string, number>> = {
  m: 60e3,
  h: 3600e3,
  d: 86400e3,
  w: 604800e3,
  M: 2592000e3,
  y: 31536000e3,
};

function relative(text: string): number | undefined {
  const found = /^now(?:-(\d+)([mhdwMy]))?(?:\/[mhdwMy])?$/.exec(text);
  if (found === null) return undefined;
  return Date.now() - Number(found[1] ?? 0) * (UNITS[found[2] ?? "d"] as number);
}

function within(values: readonly unknown[], filter: Filter): Compare {
  if (values.length !== 2) throw unsupported('A filter with "within" operator must have 2 values', { filter });
  const bounds = values.map((value) => {
    const text = String(value);
    const exact = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) ? Date.parse(text) : relative(text);
    if (exact === undefined) {
      throw unsupported(
        'The values for filter with "within" operator are not valid: you should provide a datetime or a relative date expression',
        { filter },
      );
    }
    return exact;
  });
  return (own) =>
    own.some((value) => Date.parse(String(value)) >= bounds[0]! && Date.parse(String(value)) <= bounds[1]!);
}

const escapePattern = (text: string): string => text.replace(/[.+?^${}()|[\]\\]/g, "\\$&");
