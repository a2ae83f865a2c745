import type { CtiHarness } from "../../../support/platforms/cti.js";
import type { IdFacts, Recording } from "../../../support/platforms/recording.js";

interface Candidate {
  readonly id: string;
  readonly standard_id: string;
  readonly confidence?: number | null;
  readonly objectMarking?: readonly { readonly definition: string }[] | null;
  readonly definition?: string;
  readonly value?: string;
}

/** Objects of the sandbox for those that a recording names: of the same type, as visible, as trusted. */
export class StandIns {
  private readonly pools = new Map<string, Candidate[]>();
  private readonly chosen = new Map<string, string>();

  /** `made` knows the ids of what the replay made. */
  constructor(
    private readonly harness: CtiHarness,
    private readonly ids: NonNullable<Recording["header"]["ids"]>,
    private readonly made: (id: string) => string | undefined,
  ) {}

  /** An object for a recorded id; the id itself where nothing is known of it. */
  async of(id: string): Promise<string> {
    const facts = this.ids[id];
    if (facts?.of !== undefined) return this.standardIdOf(await this.internalIdOf(facts.of));
    return this.internalIdOf(id);
  }

  private async internalIdOf(id: string): Promise<string> {
    const known = this.made(id) ?? this.chosen.get(id);
    if (known !== undefined) return known;
    const facts = this.ids[id];
    const candidate = facts?.type === undefined ? undefined : await this.choose(facts.type, facts);
    const ours = candidate?.id ?? id;
    this.chosen.set(id, ours);
    return ours;
  }

  private async standardIdOf(id: string): Promise<string> {
    type Found = Record<"object" | "relationship" | "label", { standard_id: string } | null>;
    const { object, relationship, label } = await this.harness.ask<Found>(
      "admin",
      `{ object: stixCoreObject(id: "${id}") { standard_id }
         relationship: stixCoreRelationship(id: "${id}") { standard_id }
         label(id: "${id}") { standard_id } }`,
    );
    return (object ?? relationship ?? label)?.standard_id ?? id;
  }

  private async choose(type: string, { definition, value, hidden, high }: IdFacts): Promise<Candidate | undefined> {
    const pool = this.pools.get(type) ?? (await this.candidates(type));
    this.pools.set(type, pool);
    const fits = (one: Candidate) => {
      if (definition !== undefined) return one.definition === definition;
      if (value !== undefined && one.value === value) return true;
      const open = (one.objectMarking ?? []).length === 0;
      if (hidden === true) return !open;
      if (one.confidence === undefined || one.confidence === null) return open;
      return open && (high === true ? one.confidence > 80 : one.confidence <= 50);
    };
    const at = Math.max(0, pool.findIndex(fits));
    // Of objects without a name of their own, each stands for one only.
    return definition === undefined && value === undefined ? pool.splice(at, 1)[0] : pool[at];
  }

  private async candidates(type: string): Promise<Candidate[]> {
    const data = await this.harness.ask<Record<string, { edges: { node: Candidate }[] }>>(
      "admin",
      `{ ${LISTS[type] ?? listOf(type)} }`,
    );
    const rows = Object.values(data)[0]!.edges.map(({ node }) => node);
    return rows.filter(({ objectMarking }) => {
      const markings = objectMarking ?? [];
      return markings.length === 0 || markings.some(({ definition }) => definition === "TLP:RED");
    });
  }
}

const LISTS: Readonly<Record<string, string>> = {
  "Marking-Definition": "markingDefinitions(first: 50) { edges { node { id standard_id definition } } }",
  Label: "labels(first: 50) { edges { node { id standard_id value } } }",
  "External-Reference": "externalReferences(first: 50) { edges { node { id standard_id } } }",
  "Kill-Chain-Phase": "killChainPhases(first: 50) { edges { node { id standard_id } } }",
  "stix-sighting-relationship": "stixSightingRelationships(first: 50) { edges { node { id standard_id confidence } } }",
  "stix-core-relationship": "stixCoreRelationships(first: 50) { edges { node { id standard_id confidence } } }",
};

/** Types of relationships begin with a small letter. */
function listOf(type: string): string {
  return /^[a-z]/.test(type)
    ? `stixCoreRelationships(first: 50, relationship_type: ["${type}"]) { edges { node { id standard_id confidence } } }`
    : `stixCoreObjects(types: ["${type}"], first: 300) {
         edges { node { id standard_id objectMarking { definition } ... on StixDomainObject { confidence } } }
       }`;
}
