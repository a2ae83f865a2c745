/** The arguments of every list. */
export const LIST = "first: Int, after: ID, orderMode: OrderingMode, filters: FilterGroup, search: String";

/** The arguments that distributions over relationships share. */
export const DISTRIBUTION = `field: String!, operation: StatsOperation!, startDate: DateTime, endDate: DateTime, dateAttribute: String, isTo: Boolean, limit: Int, order: String, elementWithTargetTypes: [String], fromId: [String], fromTypes: [String], toId: [String], toTypes: [String], relationship_type: [String], confidences: [Int], search: String, filters: FilterGroup`;

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

/** The fields of every domain object. */
export const DOMAIN = `${CORE}
  revoked: Boolean!
  confidence: Int
  lang: String
  created: DateTime
  modified: DateTime
  status: Status`;

/** The fields of every observable. */
export const OBSERVABLE = `${CORE}
  x_opencti_score: Int
  x_opencti_description: String
  observable_value: String!
  indicators(first: Int): IndicatorConnection`;

/** The field of what a container holds. */
export const CONTAINED = `
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

/** The interfaces, and the types of relationships. */
export const ABSTRACT = `
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
