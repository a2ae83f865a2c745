import { badInput } from "../errors.js";
import { KINDS } from "../kinds.js";
import { type ListArgs, matching, pageOf, select } from "../lists.js";
import { RELATION_TYPES, relationMapping } from "../relations.js";
import type { Thing } from "../thing.js";
import { contains } from "../views/fields.js";
import { stixOf } from "../views/names.js";
import { see, type Visit } from "../world.js";
import { logs } from "./logs.js";
import { filterKeys, subType, subTypes, vocabularies, vocabularyCategories } from "./schema-queries.js";
import {
  distributionOf,
  matrixOf,
  numberOf,
  periodTest,
  type RelationArgs,
  relationDistribution,
  relationTest,
} from "./statistics.js";
import { timeSeriesOf } from "./time-series.js";

/** The version that the platform calls itself, that of the recordings. */
export const VERSION = "7.260817.0";

/** Answers a root field of a query. */
export type Resolver = (
  // biome-ignore lint/suspicious/noExplicitAny: each field knows its own arguments, which the schema has checked
  args: any,
  visit: Visit,
) => unknown;

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

/** The caller, as `me` tells it. */
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
    effective_confidence_level: { max_confidence: account.maxConfidence },
    draftContext: draft === undefined ? null : { id: draft.id, name: draft.attributes.name },
  };
}

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
  subType,
  subTypes,
  schemaRelationsTypesMapping: relationMapping,
  filterKeysSchema: filterKeys,
  vocabularies,
  vocabularyCategories,
  stixObjectOrStixRelationship: ({ id }, { graph, account, draft }) => graph.see(id, account, draft) ?? null,
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
