import type { CtiHarness } from "../../../../support/platforms/cti.js";

export interface Row {
  readonly id: string;
  readonly standard_id: string;
  readonly name: string;
}

/** Domain objects of a type, asked of the platform itself. */
export async function entities(harness: CtiHarness, type: string, first = 1, as = "analyst"): Promise<Row[]> {
  const { stixDomainObjects } = await harness.ask<{
    stixDomainObjects: { edges: { node: { id: string; standard_id: string; representative: { main: string } } }[] };
  }>(
    as,
    "query($t: [String], $n: Int) { stixDomainObjects(types: $t, first: $n) { edges { node { id standard_id representative { main } } } } }",
    { t: [type], n: first },
  );
  return stixDomainObjects.edges.map(({ node }) => ({ ...node, name: node.representative.main }));
}

/** Observables of a type that everybody may see. */
export async function observables(
  harness: CtiHarness,
  type: string,
  first: number,
): Promise<{ id: string; value: string; hashes: { algorithm: string; hash: string }[] | null }[]> {
  const { stixCyberObservables } = await harness.ask<{
    stixCyberObservables: {
      edges: { node: { id: string; observable_value: string; hashes?: { algorithm: string; hash: string }[] } }[];
    };
  }>(
    "reader",
    "query($t: [String], $n: Int) { stixCyberObservables(types: $t, first: $n) { edges { node { id observable_value ... on StixFile { hashes { algorithm hash } } } } } }",
    { t: [type], n: first },
  );
  return stixCyberObservables.edges.map(({ node }) => ({
    id: node.id,
    value: node.observable_value,
    hashes: node.hashes ?? null,
  }));
}

/** Makes an object at the platform itself, as its administrator; its id. */
export async function make(harness: CtiHarness, type: string, input: object): Promise<string> {
  const name = type.replaceAll("-", "");
  const field = `${name.charAt(0).toLowerCase()}${name.slice(1)}Add`;
  const document = `mutation($i: ${name}AddInput!) { made: ${field}(input: $i) { id } }`;
  const { made } = await harness.ask<{ made: { id: string } }>("admin", document, { i: input });
  return made.id;
}

/** Relates two objects at the platform itself; the relationship's id. */
export async function relate(
  harness: CtiHarness,
  fromId: string,
  relationship_type: string,
  toId: string,
  more: object = {},
): Promise<string> {
  const document = "mutation($i: StixCoreRelationshipAddInput) { made: stixCoreRelationshipAdd(input: $i) { id } }";
  const i = { fromId, toId, relationship_type, ...more };
  const { made } = await harness.ask<{ made: { id: string } }>("admin", document, { i });
  return made.id;
}

/** The id of a marking, by its name. */
export async function markingId(harness: CtiHarness, name: string): Promise<string> {
  const { markingDefinitions } = await harness.ask<{
    markingDefinitions: { edges: { node: { id: string; definition: string } }[] };
  }>("admin", "{ markingDefinitions { edges { node { id definition } } } }");
  return markingDefinitions.edges.find(({ node }) => node.definition === name)!.node.id;
}

/** Records a sighting at the platform itself; its id. */
export async function sight(harness: CtiHarness, fromId: string, toId: string, more: object = {}): Promise<string> {
  const document =
    "mutation($i: StixSightingRelationshipAddInput!) { made: stixSightingRelationshipAdd(input: $i) { id } }";
  const i = { fromId, toId, attribute_count: 1, confidence: 0, ...more };
  const { made } = await harness.ask<{ made: { id: string } }>("admin", document, { i });
  return made.id;
}
