/** A kind of STIX domain object: how the API names it and what it carries beyond what all carry. */
export interface Kind {
  /** As stored and filtered, such as Intrusion-Set. */
  readonly type: string;
  /** The GraphQL type, such as IntrusionSet. */
  readonly graphql: string;
  /** The STIX type its ids begin with. */
  readonly stix: string;
  readonly get: string;
  readonly list: string;
  /** Abstract parents, nearest first, such as Identity. */
  readonly parents: readonly string[];
  /** Its own attributes with their GraphQL types; a trailing "!" is required on creation. */
  readonly attributes: Readonly<Record<string, string>>;
}

const TEXT = "String";
const TEXTS = "[String]";
const DATE = "DateTime";
const named = { name: "String!", description: TEXT };
const aliased = { ...named, aliases: TEXTS };
const seen = { first_seen: DATE, last_seen: DATE };
const motives = { goals: TEXTS, resource_level: TEXT, primary_motivation: TEXT, secondary_motivations: TEXTS };
const actor = { ...aliased, ...seen, ...motives, threat_actor_types: TEXTS, sophistication: TEXT, roles: TEXTS };
const identity = { ...named, x_opencti_aliases: TEXTS, contact_information: TEXT, x_opencti_reliability: TEXT };
const place = { ...named, x_opencti_aliases: TEXTS, latitude: "Float", longitude: "Float" };
const caseOf = { ...named, content: TEXT, severity: TEXT, priority: TEXT };
const PHASES = "[KillChainPhase!]";

const CONTAINER = ["Container"];
const CASE = ["Case", "Container"];
const IDENTITY = ["Identity"];
const LOCATION = ["Location"];

type Row = readonly [type: string, list: string, parents: readonly string[], attributes: Record<string, string>];

// In the order of the API's own list; ids of identities, places and actors share a STIX type.
const ROWS: readonly Row[] = [
  [
    "Attack-Pattern",
    "attackPatterns",
    [],
    { ...aliased, x_mitre_id: TEXT, x_mitre_platforms: TEXTS, x_mitre_detection: TEXT, killChainPhases: PHASES },
  ],
  ["Campaign", "campaigns", [], { ...aliased, ...seen, objective: TEXT }],
  [
    "Note",
    "notes",
    CONTAINER,
    { content: "String!", attribute_abstract: TEXT, authors: TEXTS, note_types: TEXTS, likelihood: "Int" },
  ],
  [
    "Observed-Data",
    "observedDatas",
    CONTAINER,
    { first_observed: "DateTime!", last_observed: "DateTime!", number_observed: "Int!" },
  ],
  ["Opinion", "opinions", CONTAINER, { opinion: "String!", explanation: TEXT, authors: TEXTS }],
  [
    "Report",
    "reports",
    CONTAINER,
    { ...named, published: "DateTime!", report_types: TEXTS, content: TEXT, x_opencti_reliability: TEXT },
  ],
  ["Grouping", "groupings", CONTAINER, { ...named, context: "String!", content: TEXT }],
  ["Case-Incident", "caseIncidents", CASE, { ...caseOf, response_types: TEXTS }],
  ["Case-Rfi", "caseRfis", CASE, { ...caseOf, information_types: TEXTS }],
  ["Case-Rft", "caseRfts", CASE, { ...caseOf, takedown_types: TEXTS }],
  ["Feedback", "feedbacks", CASE, { ...named, content: TEXT, rating: "Int" }],
  ["Task", "tasks", CONTAINER, { ...named, due_date: DATE }],
  ["Course-Of-Action", "coursesOfAction", [], { ...named, x_opencti_aliases: TEXTS, x_mitre_id: TEXT }],
  ["Individual", "individuals", IDENTITY, { ...identity, x_opencti_firstname: TEXT, x_opencti_lastname: TEXT }],
  ["Organization", "organizations", IDENTITY, { ...identity, x_opencti_organization_type: TEXT }],
  ["Sector", "sectors", IDENTITY, identity],
  ["System", "systems", IDENTITY, identity],
  ["SecurityPlatform", "securityPlatforms", IDENTITY, { ...identity, security_platform_type: TEXT }],
  [
    "Infrastructure",
    "infrastructures",
    [],
    { ...aliased, ...seen, infrastructure_types: TEXTS, killChainPhases: PHASES },
  ],
  ["Intrusion-Set", "intrusionSets", [], { ...aliased, ...seen, ...motives }],
  ["City", "cities", LOCATION, place],
  ["Country", "countries", LOCATION, place],
  ["Region", "regions", LOCATION, place],
  ["Administrative-Area", "administrativeAreas", LOCATION, place],
  ["Position", "positions", LOCATION, { ...place, street_address: TEXT, postal_code: TEXT }],
  [
    "Malware",
    "malwares",
    [],
    {
      ...aliased,
      ...seen,
      malware_types: TEXTS,
      is_family: "Boolean",
      architecture_execution_envs: TEXTS,
      implementation_languages: TEXTS,
      killChainPhases: PHASES,
    },
  ],
  [
    "Malware-Analysis",
    "malwareAnalyses",
    [],
    { product: "String!", result_name: "String!", result: TEXT, version: TEXT },
  ],
  ["Threat-Actor-Group", "threatActorsGroup", ["Threat-Actor"], actor],
  ["Threat-Actor-Individual", "threatActorsIndividuals", ["Threat-Actor"], actor],
  ["Tool", "tools", [], { ...aliased, tool_types: TEXTS, tool_version: TEXT, killChainPhases: PHASES }],
  [
    "Vulnerability",
    "vulnerabilities",
    [],
    {
      ...named,
      x_opencti_aliases: TEXTS,
      x_opencti_cvss_base_score: "Float",
      x_opencti_cvss_base_severity: TEXT,
      x_opencti_cvss_vector_string: TEXT,
      x_opencti_cvss_v4_base_score: "Float",
      x_opencti_cwe: TEXTS,
      x_opencti_cisa_kev: "Boolean",
      x_opencti_epss_score: "Float",
      x_opencti_epss_percentile: "Float",
    },
  ],
  [
    "Incident",
    "incidents",
    [],
    { ...aliased, ...seen, objective: TEXT, incident_type: TEXT, severity: TEXT, source: TEXT },
  ],
  [
    "Indicator",
    "indicators",
    [],
    {
      ...named,
      pattern: "String!",
      pattern_type: "String!",
      valid_from: DATE,
      valid_until: DATE,
      indicator_types: TEXTS,
      x_opencti_score: "Int",
      x_opencti_detection: "Boolean",
      x_opencti_main_observable_type: TEXT,
      x_mitre_platforms: TEXTS,
      decay_base_score: "Int",
      killChainPhases: PHASES,
    },
  ],
  ["Channel", "channels", [], { ...aliased, channel_types: TEXTS }],
  ["Event", "events", [], { ...aliased, event_types: TEXTS, start_time: DATE, stop_time: DATE }],
  ["Narrative", "narratives", [], { ...aliased, narrative_types: TEXTS }],
  ["Language", "languages", [], { ...named, aliases: TEXTS }],
  ["Data-Component", "dataComponents", [], { ...named, aliases: TEXTS }],
  ["Data-Source", "dataSources", [], { ...named, aliases: TEXTS, x_mitre_platforms: TEXTS, collection_layers: TEXTS }],
  [
    "Security-Coverage",
    "securityCoverages",
    [],
    { ...named, objectCovered: "String!", auto_enrichment_disable: "Boolean!" },
  ],
];

const STIX_TYPES: Readonly<Record<string, string>> = {
  "Threat-Actor-Group": "threat-actor",
  "Threat-Actor-Individual": "threat-actor",
};

/** Every kind of domain object; its type, queries, filters, orderings and creation follow from its row. */
export const KINDS: readonly Kind[] = ROWS.map(([type, list, parents, attributes]) => {
  const graphql = type.replaceAll("-", "");
  const shared = parents.includes("Identity") ? "identity" : parents.includes("Location") ? "location" : undefined;
  return {
    type,
    graphql,
    stix: STIX_TYPES[type] ?? shared ?? type.toLowerCase(),
    get: graphql.charAt(0).toLowerCase() + graphql.slice(1),
    list,
    parents,
    attributes,
  };
});

const byType = new Map(KINDS.map((kind) => [kind.type, kind]));

/** The kind of a stored type, such as Intrusion-Set. */
export const kindOf = (type: string): Kind | undefined => byType.get(type);

/** The reference attributes, which hold ids and are resolved rather than stored as given. */
export const REFERENCES = [
  "createdBy",
  "objectMarking",
  "objectLabel",
  "externalReferences",
  "killChainPhases",
  "objects",
];
