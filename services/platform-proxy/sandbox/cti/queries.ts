import { badInput } from "./errors.js";
import { contains } from "./fields.js";
import type { Entry } from "./history.js";
import { KINDS, VOCABULARIES } from "./kinds.js";
import { type ListArgs, matching, pageOf, select } from "./lists.js";
import { stixOf } from "./names.js";
import { OBSERVABLE_KINDS } from "./observables.js";
import { RELATION_TYPES, relationMapping } from "./relations.js";
import {
  distributionOf,
  matrixOf,
  numberOf,
  periodTest,
  type RelationArgs,
  relationDistribution,
  relationTest,
  timeSeriesOf,
} from "./statistics.js";
import type { Thing } from "./thing.js";
import { see, type Visit } from "./world.js";

export const VERSION = "7.260817.0";

// biome-ignore lint/suspicious/noExplicitAny: each field knows its own arguments, which the schema has checked
export type Resolver = (args: any, visit: Visit) => unknown;

const getter =
  (type: string): Resolver =>
  ({ id }: { id?: string | null }, visit) =>
    see(visit, id, type) ?? null;

const lister =
  (base: string): Resolver =>
  (args: ListArgs, visit) =>
    pageOf(matching(base, args, visit), args);

const ofTypes = (types: readonly string[]) => (args: ListArgs, visit: Visit) =>
  matching("Stix-Domain-Object", { ...args, types }, visit);

function relationships(args: RelationArgs & ListArgs, visit: Visit): Thing[] {
  if ((args.relationship_type ?? []).some((type) => !RELATION_TYPES.includes(type) && !type.startsWith("stix-"))) {
    throw badInput("Invalid argument: relationship_type is not a stix-core-relationship");
  }
  const test = relationTest(args, visit);
  return select(visit.graph.things.values(), args, visit).filter(
    (thing) => thing.types.includes("stix-core-relationship") && test(thing),
  );
}

const meta =
  (type: string): Resolver =>
  (args: ListArgs, visit) =>
    pageOf(
      select(visit.graph.things.values(), args, visit).filter((thing) => thing.type === type),
      args,
    );

export function meOf({ account, graph }: Visit) {
  const all = account.capabilities.includes("BYPASS");
  const markings = [...graph.things.values()].filter(
    (thing) => thing.type === "Marking-Definition" && (all || account.allowed.has(thing.id)),
  );
  const draft = account.draft === undefined ? undefined : graph.get(account.draft);
  return {
    id: account.id,
    entity_type: "User",
    name: account.name,
    user_email: account.email,
    capabilities: account.capabilities.map((name) => ({ id: `capability--${name}`, name, description: null })),
    allowed_marking: markings,
    max_shareable_marking: markings,
    draftContext: draft === undefined ? null : { id: draft.id, name: draft.attributes.name },
  };
}

interface LogFilter {
  readonly key: readonly string[];
  readonly values?: readonly string[] | null;
}

/** History by the filters that apply to it: the object's internal id, the kind of act. */
function logs(args: ListArgs, visit: Visit) {
  const filters = (args.filters?.filters ?? []) as readonly LogFilter[];
  const holds = ({ key, values }: LogFilter, entry: Entry) => {
    const own =
      key[0] === "context_data.id"
        ? [entry.entityId]
        : key[0] === "event_type"
          ? ["mutation", entry.scope]
          : [entry.scope];
    return (values ?? []).some((value) => own.includes(value));
  };
  const found = visit.world.history
    .seenBy(visit.account)
    .filter((entry) => filters.every((filter) => holds(filter, entry)));
  const ordered = args.orderMode === "asc" ? found.reverse() : found;
  const start = args.after ? ordered.findIndex((entry) => cursorOf(entry) === args.after) + 1 : 0;
  const rows = ordered.slice(start, start + (args.first ?? 500));
  return {
    edges: rows.map((entry) => ({ cursor: cursorOf(entry), node: logOf(entry) })),
    pageInfo: {
      startCursor: rows[0] === undefined ? "" : cursorOf(rows[0]),
      endCursor: rows.length === 0 ? "" : cursorOf(rows.at(-1)!),
      hasNextPage: rows.length === args.first,
      hasPreviousPage: false,
      globalCount: ordered.length,
    },
  };
}

const cursorOf = (entry: Entry): string =>
  Buffer.from(JSON.stringify([entry.at, `history--${entry.id}`])).toString("base64");

const logOf = (entry: Entry) => ({
  id: entry.id,
  entity_type: "History",
  event_type: "mutation",
  event_scope: entry.scope,
  timestamp: new Date(entry.at).toISOString(),
  user: { ...entry.by, entity_type: "User", email: "" },
  context_data: {
    entity_id: entry.entityId,
    entity_type: entry.entityType,
    entity_name: entry.entityName,
    message: entry.message,
    commit: entry.commit,
    changes: entry.changes.map((field) => ({ field })),
  },
});

function subTypes({ type, search }: { readonly type?: string | null; readonly search?: string | null }) {
  const all: readonly { readonly type: string; readonly above: readonly string[] }[] = [
    ...KINDS.map((kind) => ({ type: kind.type, above: ["Stix-Domain-Object", ...kind.parents] })),
    ...OBSERVABLE_KINDS.map((kind) => ({ type: kind.type, above: ["Stix-Cyber-Observable"] })),
    ...RELATION_TYPES.map((name) => ({ type: name, above: ["stix-core-relationship"] })),
  ];
  const wanted = all
    .filter(
      (one) =>
        (type == null || one.above.includes(type)) &&
        (search == null || one.type.toLowerCase().includes(search.toLowerCase())),
    )
    .map((one) => one.type)
    .sort();
  return {
    edges: wanted.map((name) => ({ cursor: "", node: { id: name, label: name } })),
    pageInfo: {
      startCursor: "",
      endCursor: "",
      hasNextPage: false,
      hasPreviousPage: false,
      globalCount: wanted.length,
    },
  };
}

function vocabularies({ category, search }: { readonly category?: string | null; readonly search?: string | null }) {
  const rows = Object.values(VOCABULARIES).flatMap((one) =>
    one.values.map((name) => ({
      id: `${one.category}-${name}`,
      entity_type: "Vocabulary",
      name,
      description: null,
      category: one.category,
    })),
  );
  const wanted = rows.filter(
    (row) =>
      (category == null || row.category === category) && (search == null || row.name.includes(search.toLowerCase())),
  );
  return {
    edges: wanted.map((node) => ({ cursor: "", node })),
    pageInfo: {
      startCursor: "",
      endCursor: "",
      hasNextPage: false,
      hasPreviousPage: false,
      globalCount: wanted.length,
    },
  };
}

const filterKeys = () =>
  KINDS.map((kind) => ({
    entity_type: kind.type,
    filters_schema: Object.entries({
      entity_type: "String",
      created_at: "DateTime",
      confidence: "Int",
      objectLabel: "[String]",
      objectMarking: "[String]",
      ...kind.attributes,
    }).map(([filterKey, type]) => ({
      filterKey,
      filterDefinition: {
        filterKey,
        type: type.replace(/[[\]!]/g, "").toLowerCase(),
        label: filterKey,
        multiple: type.startsWith("["),
        subEntityTypes: [kind.type],
        elementsForFilterValuesSearch: [],
      },
    })),
  }));

const inPeriod = (things: readonly Thing[], args: { startDate?: string | null; endDate?: string | null }) =>
  things.filter(periodTest(args.startDate, args.endDate));

const KIND_QUERIES: Readonly<Record<string, Resolver>> = Object.fromEntries(
  KINDS.flatMap((kind): [string, Resolver][] => [
    [kind.get, getter(kind.type)],
    [kind.list, lister(kind.type)],
    [
      `${kind.get}ContainsStixObjectOrStixRelationship`,
      ({ id, stixObjectOrStixRelationshipId }, visit) => contains(id, stixObjectOrStixRelationshipId, kind.type, visit),
    ],
  ]),
);

/** The fields of Query. */
export const QUERIES: Readonly<Record<string, Resolver>> = {
  ...KIND_QUERIES,
  about: () => ({ version: VERSION }),
  settings: () => ({ id: "settings", platform_title: "Cyber threat intelligence sandbox" }),
  me: (_, visit) => meOf(visit),
  stix: ({ id }, { graph, account, draft }) => {
    const thing = graph.see(id, account, draft);
    return thing === undefined ? "" : stixOf(thing, graph);
  },
  logs,
  subTypes,
  schemaRelationsTypesMapping: relationMapping,
  filterKeysSchema: filterKeys,
  vocabularies,
  stixCoreObject: getter("Stix-Core-Object"),
  stixDomainObject: getter("Stix-Domain-Object"),
  stixCyberObservable: getter("Stix-Cyber-Observable"),
  container: getter("Container"),
  case: getter("Case"),
  stixCoreRelationship: getter("stix-core-relationship"),
  stixSightingRelationship: getter("stix-sighting-relationship"),
  label: getter("Label"),
  markingDefinition: getter("Marking-Definition"),
  killChainPhase: getter("Kill-Chain-Phase"),
  externalReference: getter("External-Reference"),
  labels: meta("Label"),
  markingDefinitions: meta("Marking-Definition"),
  killChainPhases: meta("Kill-Chain-Phase"),
  externalReferences: meta("External-Reference"),
  globalSearch: lister("Stix-Core-Object"),
  stixCoreObjects: lister("Stix-Core-Object"),
  stixDomainObjects: lister("Stix-Domain-Object"),
  stixCyberObservables: lister("Stix-Cyber-Observable"),
  containers: lister("Container"),
  cases: lister("Case"),
  locations: (args, visit) => pageOf(ofTypes(args.types?.length > 0 ? args.types : ["Location"])(args, visit), args),
  threatActors: lister("Threat-Actor"),
  stixCoreRelationships: (args, visit) => pageOf(relationships(args, visit), args),
  stixSightingRelationships: (args, visit) => {
    const test = relationTest(args, visit);
    return pageOf(
      select(visit.graph.things.values(), args, visit).filter(
        (thing) => thing.type === "stix-sighting-relationship" && test(thing),
      ),
      args,
    );
  },
  attackPatternsMatrix: (_, visit) => ({ attackPatternsOfPhases: matrixOf(visit) }),
  stixCoreObjectsNumber: (args, visit) =>
    numberOf(matching("Stix-Core-Object", args, visit), args.startDate, args.endDate),
  stixCoreRelationshipsNumber: (args, visit) =>
    numberOf(relationships({ ...args, startDate: null, endDate: null }, visit), args.startDate, args.endDate),
  stixCoreObjectsDistribution: (args, visit) => {
    const around = (args.objectId ?? []) as string[];
    const near = (thing: Thing) =>
      around.length === 0 ||
      visit.graph.relationsOf(thing.id).some(({ ends }) => around.includes(ends!.from) || around.includes(ends!.to));
    return distributionOf(inPeriod(matching("Stix-Core-Object", args, visit), args).filter(near), args, visit);
  },
  stixCoreObjectsTimeSeries: (args, visit) => timeSeriesOf(matching("Stix-Core-Object", args, visit), args),
  stixCoreRelationshipsDistribution: (args, visit) => relationDistribution(relationships(args, visit), args, visit),
  stixCoreRelationshipsTimeSeries: (args, visit) =>
    timeSeriesOf(relationships({ ...args, startDate: null, endDate: null }, visit), args),
};
