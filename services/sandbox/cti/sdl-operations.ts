/** The operations and small types of the schema that are written out; $LIST and $DISTRIBUTION stand for argument lists. */
export const OPERATIONS = `
directive @auth(for: [Capabilities] = [], and: Boolean = false) on OBJECT | FIELD_DEFINITION
directive @constraint(minLength: Int) on INPUT_FIELD_DEFINITION
enum Capabilities { BYPASS KNOWLEDGE KNOWLEDGE_KNPARTICIPATE KNOWLEDGE_KNUPDATE KNOWLEDGE_KNUPDATE_KNDELETE KNOWLEDGE_KNUPDATE_KNMERGE EXPLORE SETTINGS_SETLABELS SETTINGS_SETMARKINGS SETTINGS_SETKILLCHAINPHASES SETTINGS_SETACCESSES }
scalar DateTime
scalar Any
scalar StixRef
scalar StixId
enum OrderingMode { asc desc }
enum FilterMode { and or }
enum FilterOperator { eq not_eq lt lte gt gte match wildcard contains not_contains starts_with not_starts_with ends_with not_ends_with script nil not_nil within search only_eq_to not_only_eq_to has_changed not_has_changed }
enum StatsOperation { count sum }
enum EditOperation { add replace remove }
enum LogsOrdering { event timestamp created_at updated_at }
enum LabelsOrdering { value color created_at _score }
enum VocabularyCategory { $CATEGORIES }
enum VocabularyOrdering { name category order _score }
enum KillChainPhasesOrdering { x_opencti_order kill_chain_name phase_name created_at updated_at _score }
enum MarkingDefinitionsOrdering { definition_type definition x_opencti_order created_at updated_at _score }
enum ExternalReferencesOrdering { source_name url external_id created_at updated_at _score }
enum StixCoreRelationshipsOrdering { entity_type relationship_type confidence start_time stop_time created modified created_at updated_at objectMarking objectLabel killChainPhase toName createdBy creator _score }
enum StixSightingRelationshipsOrdering { confidence x_opencti_negative first_seen last_seen created modified created_at updated_at attribute_count _score }
input FilterGroup { mode: FilterMode! filters: [Filter!]! filterGroups: [FilterGroup!]! }
input Filter { key: [String!]! values: [Any!]! operator: FilterOperator mode: FilterMode }
input EditInput { key: String! object_path: String value: [Any]! operation: EditOperation }
input HashInput { algorithm: String! @constraint(minLength: 3) hash: String! @constraint(minLength: 5) }
input StixRefRelationshipAddInput { fromId: StixRef toId: StixRef relationship_type: String! confidence: Int }
input StixRefRelationshipsAddInput { relationship_type: String! fromIds: [StixRef] toIds: [StixRef!]! }
input StixDomainObjectAddInput { type: String! name: String! description: String confidence: Int createdBy: String objectMarking: [String] objectLabel: [String] externalReferences: [String] aliases: [String] }
input LabelAddInput { value: String! color: String update: Boolean }
input KillChainPhaseAddInput { kill_chain_name: String! phase_name: String! x_opencti_order: Int! }
input ExternalReferenceAddInput { source_name: String! description: String url: String external_id: String update: Boolean }
input NoteUserAddInput { stix_id: String attribute_abstract: String content: String! @constraint(minLength: 2) note_types: [String] likelihood: Int revoked: Boolean lang: String confidence: Int objectMarking: [String] objectLabel: [String] externalReferences: [String] objects: [String] created: DateTime modified: DateTime update: Boolean }
input DraftWorkspaceAddInput { name: String! }
input StixCoreRelationshipAddInput { stix_id: StixId fromId: StixRef! toId: StixRef! relationship_type: String! confidence: Int description: String start_time: DateTime stop_time: DateTime createdBy: String objectMarking: [String] objectLabel: [String] externalReferences: [String] killChainPhases: [String] revoked: Boolean lang: String update: Boolean }
input StixSightingRelationshipAddInput { stix_id: StixId fromId: StixRef! toId: StixRef! attribute_count: Int! first_seen: DateTime last_seen: DateTime description: String confidence: Int x_opencti_negative: Boolean createdBy: String objectMarking: [String] objectLabel: [String] externalReferences: [String] update: Boolean }

type AppInfo { version: String! }
type Settings { id: ID! platform_title: String }
type Capability { id: ID! name: String! description: String }
type Creator { id: ID! entity_type: String! name: String! }
type MeUser { id: ID! entity_type: String! name: String! user_email: String! capabilities: [Capability!]! allowed_marking: [MarkingDefinition!] max_shareable_marking: [MarkingDefinition!] draftContext: DraftWorkspace effective_confidence_level: EffectiveConfidenceLevel }
type EffectiveConfidenceLevel { max_confidence: Int! }
type Representative { main: String! secondary: String }
type PageInfo { startCursor: String! endCursor: String! hasNextPage: Boolean! hasPreviousPage: Boolean! globalCount: Int! }
type Number { total: Int! count: Int! }
type Status { id: ID! template: StatusTemplate type: String! order: Int! }
type StatusTemplate { id: ID! name: String! }
type Hash { algorithm: String! hash: String }
type Distribution { label: String! value: Int entity: StixObjectOrStixRelationshipOrCreator }
type TimeSeries { date: DateTime! value: Int! }
type SubType { id: ID! label: String! statuses: [Status!]! }
type StixRelationshipSchema { key: String! values: [String!]! }
type FilterKeysSchema { entity_type: String! filters_schema: [FilterDefinitionSchema!]! }
type FilterDefinitionSchema { filterKey: String! filterDefinition: FilterDefinition! }
type FilterDefinition { filterKey: String! type: String! label: String! multiple: Boolean! subEntityTypes: [String!]! elementsForFilterValuesSearch: [String!]! }
type MarkingDefinition implements BasicObject { id: ID! standard_id: String! entity_type: String! parent_types: [String!]! definition_type: String definition: String x_opencti_order: Int! x_opencti_color: String created_at: DateTime! updated_at: DateTime! }
type Label implements BasicObject { id: ID! standard_id: String! entity_type: String! parent_types: [String!]! value: String color: String created_at: DateTime! updated_at: DateTime! }
type ExternalReference implements BasicObject { id: ID! standard_id: String! entity_type: String! parent_types: [String!]! source_name: String! description: String url: String external_id: String created_at: DateTime! updated_at: DateTime! }
type KillChainPhase implements BasicObject { id: ID! standard_id: String! entity_type: String! parent_types: [String!]! kill_chain_name: String! phase_name: String! x_opencti_order: Int created_at: DateTime! updated_at: DateTime! }
type Vocabulary { id: ID! entity_type: String! name: String! description: String order: Int category: VocabularyDefinition! }
type VocabularyDefinition { key: VocabularyCategory! description: String entity_types: [String!]! fields: [VocabularyFieldDefinition!]! }
type VocabularyFieldDefinition { key: String! required: Boolean! multiple: Boolean! }
type StixRefRelationship { id: ID! entity_type: String! relationship_type: String! }
type DraftWorkspace { id: ID! entity_type: String! name: String! }
type AttackPatternsMatrix { attackPatternsOfPhases: [AttackPatternsByKillChain!] }
type AttackPatternsByKillChain { kill_chain_id: String! kill_chain_name: String! phase_name: String! x_opencti_order: Int! attackPatterns: [AttackPatternForMatrix!] }
type AttackPatternForMatrix { attack_pattern_id: String! name: String! x_mitre_id: String }
type Log { id: ID! entity_type: String event_type: String! event_scope: String timestamp: DateTime! user: Creator context_data: ContextData }
type ContextData { entity_id: String entity_type: String entity_name: String from_id: String to_id: String message: String! commit: String changes: [HistoryChange] }
type HistoryChange { field: String! }

type StixDomainObjectEditMutations {
  delete: ID @auth(for: [KNOWLEDGE_KNUPDATE_KNDELETE])
  fieldPatch(input: [EditInput]!, commitMessage: String, references: [String]): StixDomainObject @auth(for: [KNOWLEDGE_KNUPDATE])
  relationAdd(input: StixRefRelationshipAddInput!): StixRefRelationship @auth(for: [KNOWLEDGE_KNUPDATE])
  relationDelete(toId: StixRef!, relationship_type: String!): StixDomainObject @auth(for: [KNOWLEDGE_KNUPDATE])
}
type StixCoreObjectEditMutations {
  delete: ID @auth(for: [KNOWLEDGE_KNUPDATE_KNDELETE])
  relationAdd(input: StixRefRelationshipAddInput!): StixRefRelationship @auth(for: [KNOWLEDGE_KNUPDATE])
  relationsAdd(input: StixRefRelationshipsAddInput!, commitMessage: String, references: [String]): StixCoreObject @auth(for: [KNOWLEDGE_KNUPDATE])
  relationDelete(toId: StixRef!, relationship_type: String!, commitMessage: String, references: [String]): StixCoreObject @auth(for: [KNOWLEDGE_KNUPDATE])
}
type StixCyberObservableEditMutations {
  delete: ID @auth(for: [KNOWLEDGE_KNUPDATE_KNDELETE])
  fieldPatch(input: [EditInput]!, commitMessage: String, references: [String]): StixCyberObservable @auth(for: [KNOWLEDGE_KNUPDATE])
  promoteToIndicator: Indicator @auth(for: [KNOWLEDGE_KNUPDATE])
}
type ContainerEditMutations {
  delete: ID @auth(for: [KNOWLEDGE_KNUPDATE_KNDELETE])
  fieldPatch(input: [EditInput]!, commitMessage: String, references: [String]): Container
  relationAdd(input: StixRefRelationshipAddInput!, commitMessage: String, references: [String]): StixRefRelationship
  relationDelete(toId: StixRef!, relationship_type: String!, commitMessage: String, references: [String]): Container
}
type ReportEditMutations {
  delete(purgeElements: Boolean): ID @auth(for: [KNOWLEDGE_KNUPDATE_KNDELETE])
}
type NoteEditMutations {
  delete: ID @auth(for: [KNOWLEDGE_KNUPDATE_KNDELETE, KNOWLEDGE_KNPARTICIPATE])
  fieldPatch(input: [EditInput]!, commitMessage: String, references: [String]): Note
}
type OpinionEditMutations {
  delete: ID @auth(for: [KNOWLEDGE_KNUPDATE_KNDELETE, KNOWLEDGE_KNPARTICIPATE])
  fieldPatch(input: [EditInput]!, commitMessage: String, references: [String]): Opinion
}
type StixCoreRelationshipEditMutations {
  delete: ID
  fieldPatch(input: [EditInput]!, commitMessage: String, references: [String]): StixCoreRelationship
  relationAdd(input: StixRefRelationshipAddInput!): StixRefRelationship
  relationsAdd(input: StixRefRelationshipsAddInput!): StixCoreRelationship
}
type StixSightingRelationshipEditMutations {
  delete: ID
  fieldPatch(input: [EditInput]!, commitMessage: String, references: [String]): StixSightingRelationship
}
type StixEditMutations { merge(stixObjectsIds: [String]!): StixObject @auth(for: [KNOWLEDGE_KNUPDATE_KNMERGE]) }

type Query {
  about: AppInfo @auth
  settings: Settings! @auth
  me: MeUser! @auth
  stix(id: String!): String @auth(for: [KNOWLEDGE])
  logs(first: Int, after: ID, orderBy: LogsOrdering, orderMode: OrderingMode, filters: FilterGroup, search: String): LogConnection @auth(for: [KNOWLEDGE, SETTINGS_SETACCESSES])
  subType(id: String!): SubType @auth
  subTypes(first: Int, after: ID, type: String, search: String): SubTypeConnection! @auth
  schemaRelationsTypesMapping: [StixRelationshipSchema!]! @auth
  filterKeysSchema: [FilterKeysSchema!]! @auth
  stixObjectOrStixRelationship(id: String!): StixObjectOrStixRelationship @auth(for: [KNOWLEDGE, EXPLORE])
  stixCoreObject(id: String!): StixCoreObject @auth(for: [KNOWLEDGE])
  stixCoreObjects($LIST, types: [String], orderBy: StixCoreObjectsOrdering): StixCoreObjectConnection @auth(for: [KNOWLEDGE])
  globalSearch($LIST, types: [String], orderBy: StixCoreObjectsOrdering): StixCoreObjectConnection @auth(for: [KNOWLEDGE])
  stixCoreObjectsNumber(types: [String], startDate: DateTime, endDate: DateTime, filters: FilterGroup, search: String): Number @auth(for: [KNOWLEDGE, EXPLORE])
  stixCoreObjectsDistribution(objectId: [String], relationship_type: [String], toTypes: [String], field: String!, startDate: DateTime, endDate: DateTime, dateAttribute: String, operation: StatsOperation!, limit: Int, order: String, types: [String], filters: FilterGroup, search: String): [Distribution] @auth(for: [KNOWLEDGE, EXPLORE])
  stixCoreObjectsTimeSeries(field: String!, operation: StatsOperation!, startDate: DateTime!, endDate: DateTime, interval: String!, types: [String], filters: FilterGroup, search: String): [TimeSeries] @auth(for: [KNOWLEDGE, EXPLORE])
  stixDomainObject(id: String!): StixDomainObject @auth(for: [KNOWLEDGE])
  stixDomainObjects($LIST, types: [String], orderBy: StixDomainObjectsOrdering): StixDomainObjectConnection @auth(for: [KNOWLEDGE])
  stixCyberObservable(id: String!): StixCyberObservable @auth(for: [KNOWLEDGE])
  stixCyberObservables($LIST, types: [String], orderBy: StixCyberObservablesOrdering): StixCyberObservableConnection @auth(for: [KNOWLEDGE])
  container(id: String): Container @auth(for: [KNOWLEDGE])
  containers($LIST, orderBy: ContainersOrdering): ContainerConnection @auth(for: [KNOWLEDGE])
  case(id: String!): Case @auth(for: [KNOWLEDGE])
  cases($LIST, orderBy: CasesOrdering): CaseConnection @auth(for: [KNOWLEDGE])
  locations($LIST, types: [String], orderBy: LocationsOrdering): LocationConnection @auth(for: [KNOWLEDGE])
  threatActors($LIST, orderBy: ThreatActorsOrdering): ThreatActorConnection @auth(for: [KNOWLEDGE])
  stixCoreRelationship(id: String): StixCoreRelationship @auth(for: [KNOWLEDGE])
  stixCoreRelationships($LIST, orderBy: StixCoreRelationshipsOrdering, fromOrToId: [String], elementWithTargetTypes: [String], fromId: [String], fromTypes: [String], toId: [String], toTypes: [String], relationship_type: [String], confidences: [Int], startDate: DateTime, endDate: DateTime): StixCoreRelationshipConnection @auth(for: [KNOWLEDGE])
  stixCoreRelationshipsNumber(fromOrToId: [String], fromId: [String], toId: [String], fromTypes: [String], toTypes: [String], relationship_type: [String], startDate: DateTime, endDate: DateTime, filters: FilterGroup, search: String): Number @auth(for: [KNOWLEDGE, EXPLORE])
  stixCoreRelationshipsDistribution(fromOrToId: [String], $DISTRIBUTION): [Distribution] @auth(for: [KNOWLEDGE, EXPLORE])
  stixCoreRelationshipsTimeSeries(fromOrToId: [String], field: String!, operation: StatsOperation!, startDate: DateTime!, endDate: DateTime, interval: String!, relationship_type: [String], filters: FilterGroup): [TimeSeries] @auth(for: [KNOWLEDGE, EXPLORE])
  stixSightingRelationship(id: String): StixSightingRelationship @auth(for: [KNOWLEDGE])
  stixSightingRelationships($LIST, orderBy: StixSightingRelationshipsOrdering, fromOrToId: String, fromId: StixRef, toId: StixRef): StixSightingRelationshipConnection @auth(for: [KNOWLEDGE])
  attackPatternsMatrix: AttackPatternsMatrix @auth(for: [KNOWLEDGE])
  label(id: String!): Label @auth(for: [KNOWLEDGE])
  labels($LIST, orderBy: LabelsOrdering): LabelConnection @auth(for: [KNOWLEDGE])
  markingDefinition(id: String!): MarkingDefinition @auth(for: [KNOWLEDGE])
  markingDefinitions($LIST, orderBy: MarkingDefinitionsOrdering): MarkingDefinitionConnection @auth(for: [KNOWLEDGE])
  killChainPhase(id: String!): KillChainPhase @auth(for: [KNOWLEDGE])
  killChainPhases($LIST, orderBy: KillChainPhasesOrdering): KillChainPhaseConnection @auth(for: [KNOWLEDGE])
  externalReference(id: String!): ExternalReference @auth(for: [KNOWLEDGE])
  externalReferences($LIST, orderBy: ExternalReferencesOrdering): ExternalReferenceConnection @auth(for: [KNOWLEDGE])
  vocabularyCategories: [VocabularyDefinition!]! @auth
  vocabularies($LIST, category: VocabularyCategory, orderBy: VocabularyOrdering): VocabularyConnection @auth(for: [KNOWLEDGE])
}

type Mutation {
  meEdit(input: [EditInput]!): MeUser @auth
  draftWorkspaceAdd(input: DraftWorkspaceAddInput!): DraftWorkspace @auth(for: [KNOWLEDGE_KNUPDATE])
  labelAdd(input: LabelAddInput!): Label @auth(for: [SETTINGS_SETLABELS])
  killChainPhaseAdd(input: KillChainPhaseAddInput!): KillChainPhase @auth(for: [SETTINGS_SETKILLCHAINPHASES])
  externalReferenceAdd(input: ExternalReferenceAddInput!): ExternalReference @auth(for: [KNOWLEDGE_KNUPDATE])
  stixDomainObjectAdd(input: StixDomainObjectAddInput!): StixDomainObject @auth(for: [KNOWLEDGE_KNUPDATE])
  stixDomainObjectEdit(id: ID!): StixDomainObjectEditMutations @auth
  stixCoreObjectEdit(id: ID!): StixCoreObjectEditMutations @auth
  stixCyberObservableEdit(id: ID!): StixCyberObservableEditMutations @auth(for: [KNOWLEDGE_KNUPDATE])
  stixEdit(id: ID!): StixEditMutations @auth(for: [KNOWLEDGE_KNUPDATE_KNMERGE, KNOWLEDGE_KNUPDATE_KNDELETE])
  containerEdit(id: ID!): ContainerEditMutations @auth(for: [KNOWLEDGE_KNUPDATE])
  reportEdit(id: ID!): ReportEditMutations @auth(for: [KNOWLEDGE_KNUPDATE])
  noteEdit(id: ID!): NoteEditMutations @auth(for: [KNOWLEDGE_KNUPDATE, KNOWLEDGE_KNPARTICIPATE])
  opinionEdit(id: ID!): OpinionEditMutations @auth(for: [KNOWLEDGE_KNUPDATE_KNDELETE, KNOWLEDGE_KNPARTICIPATE])
  userNoteAdd(input: NoteUserAddInput!): Note @auth(for: [KNOWLEDGE_KNUPDATE, KNOWLEDGE_KNPARTICIPATE])
  indicatorFieldPatch(id: ID!, input: [EditInput!]!, commitMessage: String, references: [String]): Indicator @auth(for: [KNOWLEDGE_KNUPDATE])
  indicatorDelete(id: ID!): ID @auth(for: [KNOWLEDGE_KNUPDATE_KNDELETE])
  stixCoreRelationshipAdd(input: StixCoreRelationshipAddInput): StixCoreRelationship @auth(for: [KNOWLEDGE_KNUPDATE])
  stixCoreRelationshipEdit(id: ID!): StixCoreRelationshipEditMutations @auth(for: [KNOWLEDGE_KNUPDATE])
  stixCoreRelationshipDelete(fromId: StixRef!, toId: StixRef!, relationship_type: String!): Boolean! @auth(for: [KNOWLEDGE_KNUPDATE])
  stixSightingRelationshipAdd(input: StixSightingRelationshipAddInput!): StixSightingRelationship @auth(for: [KNOWLEDGE_KNUPDATE])
  stixSightingRelationshipEdit(id: ID!): StixSightingRelationshipEditMutations @auth(for: [KNOWLEDGE_KNUPDATE])
}`;
