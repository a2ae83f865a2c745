import { KINDS, type Kind } from "./kinds.js";
import { OBSERVABLE_KINDS } from "./observables.js";
import { VOCABULARIES } from "./operations/vocabularies.js";
import { OPERATIONS } from "./sdl-operations.js";
import { ABSTRACT, CONTAINED, DISTRIBUTION, DOMAIN, LIST, OBSERVABLE } from "./sdl-types.js";

// The subset of the API's schema that the sandbox answers, under the API's own
// names. Types that differ only in their attributes are written from tables.

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

/** Of a task there is less to say. */
const TASK_INPUT = INPUT.split("\n")
  .filter((line) => !/stix_id|revoked|lang|confidence|externalReferences|modified/.test(line))
  .join("\n");

const pascal = (name: string): string => name.charAt(0).toUpperCase() + name.slice(1);

const lines = (attributes: Readonly<Record<string, string>>): string =>
  Object.entries(attributes)
    .map(([name, type]) => `\n  ${name}: ${type}`)
    .join("");

/** The lists whose rows the API promises; of the others rows may be null. */
const SURE = new Set([
  "StixCoreObject",
  "StixDomainObject",
  "StixCyberObservable",
  "StixCoreRelationship",
  "Container",
  "AttackPattern",
  "Note",
  "Country",
  "Narrative",
  "Task",
  "Organization",
  "SecurityPlatform",
  "SecurityCoverage",
  "MarkingDefinition",
  "Label",
  "ExternalReference",
  "KillChainPhase",
  "Vocabulary",
  "Log",
  "SubType",
]);

/** Where the API has another type than the attribute's own, in answers or in inputs. */
const OTHERWISE: Readonly<Record<string, string>> = {
  "Indicator.pattern": "String",
  "Indicator.pattern_type": "String",
  "Report.published": "DateTime",
  "CaseIncident.response_types": "[String!]",
  "CaseRfi.information_types": "[String!]",
  "CaseRft.takedown_types": "[String!]",
  "AttackPattern.x_mitre_platforms": "[String!]",
  "AttackPatternAddInput.x_mitre_platforms": "[String!]",
  "CaseIncidentAddInput.response_types": "[String!]",
  "CaseRfiAddInput.information_types": "[String!]",
  "CaseRftAddInput.takedown_types": "[String!]",
  "EventAddInput.event_types": "[String!]",
  "NarrativeAddInput.narrative_types": "[String!]",
};

/** Attributes that are no part of the API's input. */
const NOT_GIVEN = ["SectorAddInput.x_opencti_reliability", "IndicatorAddInput.decay_base_score"];

/** The types of whose lists, on creation, no member may be null. */
const SURE_INPUTS = ["Indicator"];

/** Where the API has another name for the edges than that of their connection. */
const EDGES: Readonly<Record<string, string>> = { StixSightingRelationship: "StixSightingRelationships" };

function connection(name: string, node: string): string {
  const edge = `${EDGES[name] ?? name}Edge`;
  return `
type ${name}Connection { pageInfo: PageInfo! edges: ${SURE.has(name) ? `[${edge}!]!` : `[${edge}]`} }
type ${edge} { cursor: String! node: ${node}! }`;
}

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
const MIN_LENGTH: Readonly<Record<string, number>> = {
  "Indicator.name": 2,
  "Note.content": 2,
  "Opinion.opinion": 2,
  "Grouping.context": 2,
};

function kindSdl(kind: Kind): string {
  const interfaces = [
    "BasicObject",
    "StixObject",
    "StixCoreObject",
    "StixDomainObject",
    ...kind.parents.map((parent) => parent.replaceAll("-", "")),
  ];
  const container = kind.parents.includes("Container");
  const own: Record<string, string> = Object.fromEntries(
    Object.entries(kind.attributes).map(([name, type]) => [name, OTHERWISE[`${kind.graphql}.${name}`] ?? type]),
  );
  // The API names what has no name of its own.
  if (own.name === undefined && kind.type === "Observed-Data") own.name = "String!";
  const inputs = Object.entries(kind.attributes).filter(
    ([name]) => !NOT_GIVEN.includes(`${kind.graphql}AddInput.${name}`),
  );
  const input = inputs.map(([name, given]) => {
    const type = OTHERWISE[`${kind.graphql}AddInput.${name}`] ?? given;
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
  const given = `${kind.type === "Task" ? TASK_INPUT : INPUT}${input.join("")}${objects}${indicator}`;
  return `
type ${kind.graphql} implements ${interfaces.join(" & ")} {${DOMAIN}${container ? CONTAINED : ""}${lines(own)}${observables}
}
${connection(kind.graphql, kind.graphql)}${ordering(pascal(kind.list), sortable)}
input ${kind.graphql}AddInput {${SURE_INPUTS.includes(kind.type) ? given.replaceAll("[String]", "[String!]") : given}
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
const META = ["MarkingDefinition", "Label", "ExternalReference", "KillChainPhase"];
const UNIONS = `
union StixObjectOrStixRelationshipOrCreator = ${[...MEMBERS, ...META, "StixCoreRelationship", "StixSightingRelationship", "Creator"].join(" | ")}
union StixObjectOrStixRelationship = ${[...MEMBERS, ...META, "StixCoreRelationship", "StixSightingRelationship"].join(" | ")}
${connection("StixObjectOrStixRelationshipRef", "StixObjectOrStixRelationship")}`;

/** The whole schema as text; what GET /schema answers with. */
export const SDL: string = [
  OPERATIONS.replaceAll("$CATEGORIES", VOCABULARIES.map(({ category }) => category).join(" "))
    .replaceAll("$LIST", LIST)
    .replaceAll("$DISTRIBUTION", DISTRIBUTION),
  ABSTRACT,
  UNIONS,
  CONNECTIONS,
  ORDERINGS,
  ...KINDS.map(kindSdl),
  ...OBSERVABLE_KINDS.map(observableSdl),
  kindOperations(),
].join("\n");
