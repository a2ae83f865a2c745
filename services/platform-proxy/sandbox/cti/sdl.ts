import { KINDS, type Kind } from "./kinds.js";
import { OBSERVABLE_KINDS } from "./observables.js";
import { OPERATIONS } from "./sdl-operations.js";

// The subset of the API's schema that the sandbox answers, under the API's own
// names. Types that differ only in their attributes are written from tables.

const LIST = "first: Int, after: ID, orderMode: OrderingMode, filters: FilterGroup, search: String";

const DISTRIBUTION = `field: String!, operation: StatsOperation!, startDate: DateTime, endDate: DateTime, dateAttribute: String, isTo: Boolean, limit: Int, order: String, elementWithTargetTypes: [String], fromId: [String], fromTypes: [String], toId: [String], toTypes: [String], relationship_type: [String], confidences: [Int], search: String, filters: FilterGroup`;

const BASIC = `
  id: ID!
  standard_id: String!
  entity_type: String!
  parent_types: [String!]!`;

const OBJECT = `${BASIC}
  x_opencti_stix_ids: [StixId]
  representative: Representative!
  is_inferred: Boolean!
  spec_version: String!
  created_at: DateTime!
  updated_at: DateTime!`;

const CORE = `${OBJECT}
  createdBy: Identity
  numberOfConnectedElement: Int!
  objectMarking: [MarkingDefinition!]
  objectLabel: [Label!]
  externalReferences(first: Int): ExternalReferenceConnection
  containersNumber: Number
  containers(first: Int, entityTypes: [String!]): ContainerConnection
  reports(first: Int): ReportConnection
  notes(first: Int): NoteConnection
  stixCoreRelationshipsDistribution(${DISTRIBUTION}): [Distribution] @auth(for: [KNOWLEDGE, EXPLORE])
  creators: [Creator!]
  toStix: String`;

const DOMAIN = `${CORE}
  revoked: Boolean!
  confidence: Int
  lang: String
  created: DateTime
  modified: DateTime
  status: Status`;

const OBSERVABLE = `${CORE}
  x_opencti_score: Int
  x_opencti_description: String
  observable_value: String!
  indicators(first: Int): IndicatorConnection`;

const CONTAINED = `
  objects(${LIST}, orderBy: StixObjectOrStixRelationshipsOrdering, types: [String], all: Boolean): StixObjectOrStixRelationshipRefConnection`;

const RELATIONSHIP = `${BASIC}
  representative: Representative!
  is_inferred: Boolean!
  spec_version: String!
  created_at: DateTime!
  updated_at: DateTime!
  from: StixObjectOrStixRelationshipOrCreator
  fromId: String!
  fromType: String!
  to: StixObjectOrStixRelationshipOrCreator
  toId: String!
  toType: String!
  created: DateTime
  modified: DateTime
  confidence: Int
  relationship_type: String!
  createdBy: Identity
  objectMarking: [MarkingDefinition!]
  objectLabel: [Label!]
  externalReferences(first: Int): ExternalReferenceConnection
  description: String
  creators: [Creator!]
  toStix: String`;

const INPUT = `
  stix_id: StixId
  revoked: Boolean
  lang: String
  confidence: Int
  createdBy: String
  objectMarking: [String]
  objectLabel: [String]
  externalReferences: [String]
  created: DateTime
  modified: DateTime
  update: Boolean`;

const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const lines = (attributes: Readonly<Record<string, string>>): string =>
  Object.entries(attributes)
    .map(([name, type]) => `\n  ${name}: ${type}`)
    .join("");

const connection = (name: string, node: string): string => `
type ${name}Connection { pageInfo: PageInfo! edges: [${name}Edge] }
type ${name}Edge { cursor: String! node: ${node}! }`;

const ordering = (name: string, own: readonly string[] = []): string => {
  const values = [
    "name",
    "entity_type",
    "created",
    "modified",
    "created_at",
    "updated_at",
    "confidence",
    "createdBy",
    "creator",
    "objectMarking",
    "objectLabel",
    "x_opencti_workflow_id",
    "_score",
    ...own,
  ];
  return `\nenum ${name}Ordering { ${[...new Set(values)].join(" ")} }`;
};

/** The text shortest that the API takes in an attribute on creation. */
const MIN_LENGTH: Readonly<Record<string, number>> = { "Indicator.name": 2, "Note.content": 2, "Opinion.opinion": 2 };

function kindSdl(kind: Kind): string {
  const interfaces = [
    "BasicObject",
    "StixObject",
    "StixCoreObject",
    "StixDomainObject",
    ...kind.parents.map((parent) => parent.replaceAll("-", "")),
  ];
  const container = kind.parents.includes("Container");
  const own = { ...kind.attributes };
  // The API names what has no name of its own.
  if (own.name === undefined && kind.type === "Observed-Data") own.name = "String!";
  const input = Object.entries(kind.attributes).map(([name, type]) => {
    const least = MIN_LENGTH[`${kind.type}.${name}`];
    const rule = least === undefined ? "" : ` @constraint(minLength: ${least})`;
    return `\n  ${name}: ${type.replace("[KillChainPhase!]", "[String]")}${rule}`;
  });
  const objects = container ? `\n  objects: ${kind.type === "Observed-Data" ? "[String]!" : "[String]"}` : "";
  const indicator = kind.type === "Indicator" ? "\n  basedOn: [String]\n  createObservables: Boolean" : "";
  const observables = kind.type === "Indicator" ? "\n  observables(first: Int): StixCyberObservableConnection" : "";
  const sortable = Object.entries(kind.attributes)
    .filter(([, type]) => !type.startsWith("["))
    .map(([name]) => name);
  return `
type ${kind.graphql} implements ${interfaces.join(" & ")} {${DOMAIN}${container ? CONTAINED : ""}${lines(own)}${observables}
}
${connection(kind.graphql, kind.graphql)}${ordering(pascal(kind.list), sortable)}
input ${kind.graphql}AddInput {${INPUT}${input.join("")}${objects}${indicator}
}`;
}

function observableSdl({ graphql, attributes }: (typeof OBSERVABLE_KINDS)[number]): string {
  const own = Object.entries(attributes).filter(
    ([name]) => !["belongsTo", "resolvesTo", "networkSrc", "networkDst", "x_opencti_description"].includes(name),
  );
  const output = own.map(([name, type]) => `\n  ${name}: ${type.replace("HashInput", "Hash").replace(/!$/, "")}`);
  return `
type ${graphql} implements BasicObject & StixObject & StixCoreObject & StixCyberObservable {${OBSERVABLE}${output.join("")}
}
input ${graphql}AddInput {${lines(attributes)}
}`;
}

const ABSTRACT = `
interface BasicObject {${BASIC}
}
interface StixObject implements BasicObject {${OBJECT}
}
interface StixCoreObject implements BasicObject & StixObject {${CORE}
}
interface StixDomainObject implements BasicObject & StixObject & StixCoreObject {${DOMAIN}
}
interface StixCyberObservable implements BasicObject & StixObject & StixCoreObject {${OBSERVABLE}
}
interface Container implements BasicObject & StixObject & StixCoreObject & StixDomainObject {${DOMAIN}${CONTAINED}
}
interface Case implements BasicObject & StixObject & StixCoreObject & StixDomainObject & Container {${DOMAIN}${CONTAINED}
  name: String!
  description: String
}
interface Identity implements BasicObject & StixObject & StixCoreObject & StixDomainObject {${DOMAIN}
  name: String!
  description: String
  contact_information: String
}
interface Location implements BasicObject & StixObject & StixCoreObject & StixDomainObject {${DOMAIN}
  name: String!
  description: String
  latitude: Float
  longitude: Float
}
interface ThreatActor implements BasicObject & StixObject & StixCoreObject & StixDomainObject {${DOMAIN}
  name: String!
  description: String
  aliases: [String]
  threat_actor_types: [String]
}
interface BasicRelationship {${BASIC}
}
type StixCoreRelationship implements BasicRelationship {${RELATIONSHIP}
  start_time: DateTime
  stop_time: DateTime
  revoked: Boolean!
  killChainPhases: [KillChainPhase!]
}
type StixSightingRelationship implements BasicRelationship {${RELATIONSHIP}
  first_seen: DateTime
  last_seen: DateTime
  attribute_count: Int!
  x_opencti_negative: Boolean!
}`;

const CONNECTIONS = [
  "StixCoreObject",
  "StixDomainObject",
  "StixCyberObservable",
  "Container",
  "Case",
  "Location",
  "ThreatActor",
  "StixCoreRelationship",
  "StixSightingRelationship",
  "MarkingDefinition",
  "Label",
  "ExternalReference",
  "KillChainPhase",
  "Vocabulary",
  "Log",
  "SubType",
]
  .map((name) => connection(name, name))
  .join("");

const ORDERINGS = [
  "StixCoreObjects",
  "StixDomainObjects",
  "StixCyberObservables",
  "Containers",
  "Cases",
  "Locations",
  "ThreatActors",
  "StixObjectOrStixRelationships",
]
  .map((name) => ordering(name, name === "StixCyberObservables" ? ["observable_value"] : []))
  .join("");

function kindOperations(): string {
  const queries = KINDS.map((kind) => {
    // Tasks are open to whoever is signed in.
    const auth = kind.type === "Task" ? "@auth" : "@auth(for: [KNOWLEDGE])";
    const contains = kind.parents.includes("Container")
      ? `\n  ${kind.get}ContainsStixObjectOrStixRelationship(id: String!, stixObjectOrStixRelationshipId: String!): Boolean ${auth}`
      : "";
    const get = `\n  ${kind.get}(id: String${["Report", "Note", "Opinion", "Observed-Data"].includes(kind.type) ? "" : "!"}): ${kind.graphql} ${auth}`;
    return `${get}\n  ${kind.list}(${LIST}, orderBy: ${pascal(kind.list)}Ordering): ${kind.graphql}Connection ${auth}${contains}`;
  });
  const mutations = KINDS.map(
    (kind) => `\n  ${kind.get}Add(input: ${kind.graphql}AddInput!): ${kind.graphql} @auth(for: [KNOWLEDGE_KNUPDATE])`,
  );
  const observables = OBSERVABLE_KINDS.map(({ graphql }) => `${graphql}: ${graphql}AddInput`).join(", ");
  return `
extend type Query {${queries.join("")}
}
extend type Mutation {${mutations.join("")}
  stixCyberObservableAdd(type: String!, stix_id: StixId, x_opencti_score: Int, x_opencti_description: String, createIndicator: Boolean, createdBy: String, objectMarking: [String], objectLabel: [String], externalReferences: [String], update: Boolean, ${observables}): StixCyberObservable @auth(for: [KNOWLEDGE_KNUPDATE])
}`;
}

const MEMBERS = [...KINDS, ...OBSERVABLE_KINDS].map(({ graphql }) => graphql);
const UNIONS = `
union StixObjectOrStixRelationshipOrCreator = ${[...MEMBERS, "StixCoreRelationship", "StixSightingRelationship", "MarkingDefinition", "Label", "ExternalReference", "KillChainPhase", "Creator"].join(" | ")}
union StixObjectOrStixRelationship = ${[...MEMBERS, "StixCoreRelationship", "StixSightingRelationship"].join(" | ")}
${connection("StixObjectOrStixRelationshipRef", "StixObjectOrStixRelationship")}`;

/** The whole schema as text; what GET /schema answers with. */
export const SDL: string = [
  OPERATIONS.replaceAll("$LIST", LIST).replaceAll("$DISTRIBUTION", DISTRIBUTION),
  ABSTRACT,
  UNIONS,
  CONNECTIONS,
  ORDERINGS,
  ...KINDS.map(kindSdl),
  ...OBSERVABLE_KINDS.map(observableSdl),
  kindOperations(),
].join("\n");
