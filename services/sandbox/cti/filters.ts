import { comparisonOf } from "./comparisons.js";
import { unsupported } from "./errors.js";
import type { Filter, FilterGroup } from "./filter-group.js";
import type { Graph } from "./graph.js";
import { KINDS } from "./kinds.js";
import { OBSERVABLE_KINDS } from "./observables.js";
import { aliasesOf, type Thing } from "./thing.js";

/** Whether an element passes. */
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
    if (types?.includes("object") && ids === undefined && graph.containersOf(thing.id).length > 0) return !not;
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
