import type { Known } from "../frame/leaks.js";
import type { Node, RealPlatform } from "./platform.js";

const OBJECT = `id standard_id entity_type created_at updated_at representative { main secondary }
  objectMarking { definition } objectLabel { value } createdBy { id name }
  ... on StixDomainObject { confidence revoked }
  ... on Container { status { template { name } } }
  ... on Report { published report_types }
  ... on Grouping { context }
  ... on CaseIncident { severity priority response_types }
  ... on CaseRfi { severity priority information_types }
  ... on CaseRft { severity priority takedown_types }
  ... on Task { due_date }
  ... on Note { attribute_abstract note: content note_types likelihood }
  ... on Opinion { opinion explanation }
  ... on Vulnerability { x_opencti_cvss_base_score x_opencti_cisa_kev x_opencti_epss_score }
  ... on Indicator { pattern pattern_type valid_from valid_until x_opencti_score }
  ... on ThreatActor { aliases }
  ... on IntrusionSet { aliases primary_motivation first_seen last_seen }
  ... on Campaign { aliases first_seen last_seen }
  ... on Malware { aliases malware_types is_family }
  ... on AttackPattern { x_mitre_platforms killChainPhases { phase_name } }
  ... on Incident { aliases incident_type severity }
  ... on Sector { x_opencti_aliases }
  ... on Country { x_opencti_aliases }
  ... on StixCyberObservable { observable_value x_opencti_score x_opencti_description
    ... on StixFile { file_name: name hashes { algorithm hash } } }`;

const RELATIONSHIP = `id standard_id entity_type relationship_type fromId toId created_at updated_at confidence start_time
  objectMarking { definition } objectLabel { value }
  from { ... on StixCoreObject { id representative { main } } ... on StixCoreRelationship { id } }
  to { ... on StixCoreObject { id representative { main } } ... on StixCoreRelationship { id } }`;

/** What one person sees of the platform, asked directly. */
export class Seen {
  constructor(
    private readonly platform: RealPlatform,
    readonly person: string,
  ) {}

  /** Every object, newest first. */
  objects(): Promise<Node[]> {
    return this.platform.list(this.person, "stixCoreObjects", OBJECT);
  }

  /** Every relationship, newest first. */
  relationships(): Promise<Node[]> {
    return this.platform.list(this.person, "stixCoreRelationships", RELATIONSHIP);
  }

  /** The objects and relationships that changed last, and how many there are in all. */
  async latest(count: number): Promise<{ readonly nodes: readonly Node[]; readonly total: number }> {
    const page = "(first: $n, orderBy: updated_at, orderMode: desc)";
    const info = "pageInfo { globalCount }";
    const data = await this.platform.need(
      this.person,
      `query($n: Int) { a: stixCoreObjects${page} { edges { node { ${OBJECT} } } ${info} }
        b: stixCoreRelationships${page} { edges { node { ${RELATIONSHIP} } } ${info} } }`,
      { n: count },
    );
    const nodes = [...data.a.edges, ...data.b.edges].map((edge: { node: Node }) => edge.node);
    return { nodes, total: data.a.pageInfo.globalCount + data.b.pageInfo.globalCount };
  }

  /** Everything that may be told this person, by id and name. */
  async everything(): Promise<Known[]> {
    const [objects, relationships] = await Promise.all([this.objects(), this.relationships()]);
    return [
      ...objects.flatMap((one) => [
        { id: one.id, name: one.representative.main as string },
        { id: one.standard_id as string },
      ]),
      ...relationships.flatMap((one) => [{ id: one.id }, { id: one.standard_id as string }]),
    ];
  }

  /** What a container holds; undefined where the person does not see the container. */
  async contents(id: string): Promise<Node[] | undefined> {
    const query = `query($id: String) { container(id: $id) { objects(first: 4000) { edges { node {
      ... on StixCoreObject { id entity_type created_at } ... on StixCoreRelationship { id entity_type created_at }
      ... on StixSightingRelationship { id entity_type created_at } } } } } }`;
    const { data } = await this.platform.call(this.person, query, { id });
    return data?.container?.objects.edges.map((edge: { node: Node }) => edge.node);
  }

  /** One object; undefined where the person does not see it. */
  async object(id: string): Promise<Node | undefined> {
    const { data } = await this.platform.call(
      this.person,
      `query($id: String!) { one: stixCoreObject(id: $id) { ${OBJECT} } }`,
      { id },
    );
    return data?.one ?? undefined;
  }
}

/** Names of markings, sorted. */
export const markingsOf = (node: Node): string[] =>
  (node.objectMarking ?? []).map((one: { definition: string }) => one.definition).sort();

/** Values of labels, sorted. */
export const labelsOf = (node: Node): string[] =>
  (node.objectLabel ?? []).map((one: { value: string }) => one.value).sort();
