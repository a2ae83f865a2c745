import type { ConnectError } from "@connectrpc/connect";
import { failedPrecondition, notFound } from "../../../shared/rpc/errors.js";
import type { DataOf, VariablesOf } from "../../document.js";
import type { Platform } from "../../platform.js";
import { checkMayChange } from "./entity-types.js";
import { operation } from "./graphql.js";
import { CORE, REF, type RefNode } from "./knowledge.js";
import { nodesOf, type Rows } from "./paging.js";

// Lists and filters of the platform take internal ids only and find nothing,
// without an error, for anything else. So everything a caller names is resolved
// first, as the caller: what is hidden resolves to nothing, like what is not there.

/** One object of any kind. */
export const OBJECT = operation(
  `
  query Object($id: String!) {
    stixCoreObject(id: $id) {
      ...Core
      ... on StixDomainObject {
        confidence
      }
    }
  }
`,
  [CORE],
);

/** A relationship or sighting. */
export const RELATIONSHIP_BY_ID = operation(`
  query RelationshipById($id: String!) {
    stixObjectOrStixRelationship(id: $id) {
      ... on StixCoreRelationship {
        id
        entity_type
      }
      ... on StixSightingRelationship {
        id
        entity_type
      }
    }
  }
`);

/** Objects by their ids. */
export const OBJECTS = operation(
  `
  query Objects($filters: FilterGroup, $first: Int) {
    stixCoreObjects(filters: $filters, first: $first) {
      edges {
        node {
          standard_id
          parent_types
          ...Ref
        }
      }
    }
  }
`,
  [REF],
);

/** Relationships and sightings by their ids. */
export const RELATIONSHIPS_BY_ID = operation(`
  query RelationshipsById($filters: FilterGroup, $first: Int) {
    stixCoreRelationships(filters: $filters, first: $first) {
      edges {
        node {
          id
          standard_id
          entity_type
          representative {
            main
          }
        }
      }
    }
    stixSightingRelationships(filters: $filters, first: $first) {
      edges {
        node {
          id
          standard_id
          entity_type
          representative {
            main
          }
        }
      }
    }
  }
`);

/** A group of conditions as the platform takes it. */
export type FilterGroup = NonNullable<VariablesOf<typeof OBJECTS>["filters"]>;

/** One condition of a filter; its values are ORed. */
export type Filter = FilterGroup["filters"][number];

/** Every condition holds. */
export const all = (...filters: Filter[]): FilterGroup => groupOf("and", filters);
/** One of the conditions holds. */
export const any = (...filters: Filter[]): FilterGroup => groupOf("or", filters);
/** Every group holds; those that are none do not count. */
export function every(...groups: (FilterGroup | undefined)[]): FilterGroup | undefined {
  const given = groups.filter((group) => group !== undefined);
  return given.length < 2 ? given[0] : { mode: "and", filters: [], filterGroups: given };
}

// Operator and mode may be left out; they are written so that nothing hangs on what the platform takes then.
const groupOf = (mode: FilterGroup["mode"], filters: readonly Filter[]): FilterGroup => ({
  mode,
  filters: filters.map((filter) => ({ operator: "eq", mode: "or", ...filter })),
  filterGroups: [],
});

/** An object that a tool acts on. */
export type TargetNode = NonNullable<DataOf<typeof OBJECT>["stixCoreObject"]>;

/** @throws ConnectError not_found, for what does not exist and what is hidden alike; or what absentOf says. */
export async function objectOf(platform: Platform, id: string, argument = "object_id"): Promise<TargetNode> {
  const { stixCoreObject } = await platform.graphql(OBJECT, { id });
  if (stixCoreObject === null) throw await absentOf(platform, id, argument);
  return stixCoreObject;
}

/** What is said of an id that no object has: a relationship or sighting that the caller sees has tools of its own. */
export async function absentOf(platform: Platform, id: string, argument: string): Promise<ConnectError> {
  const { stixObjectOrStixRelationship: other } = await platform.graphql(RELATIONSHIP_BY_ID, { id });
  if (other?.entity_type === undefined)
    return notFound(`${argument}: no object with the id ${id} exists or is visible to you`);
  const what = other.entity_type === SIGHTING ? "sighting" : "relationship";
  return failedPrecondition(
    `${argument}: ${id} is a ${what}, not an object; use get_${what}, update_${what} or delete_${what}`,
  );
}

const SIGHTING = "stix-sighting-relationship";

/**
 * An object that a tool is about to change.
 *
 * @throws ConnectError not_found, or failed_precondition where nobody changes it here.
 */
export async function changeableOf(platform: Platform, id: string, argument = "object_id"): Promise<TargetNode> {
  const target = await objectOf(platform, id, argument);
  checkMayChange(target, argument);
  return target;
}

/** The ends that a list is asked for by. @throws ConnectError not_found, for what is hidden too. */
export async function askedEnds(
  platform: Platform,
  { fromId, toId }: { readonly fromId?: string | undefined; readonly toId?: string | undefined },
): Promise<{ readonly from: TargetNode | undefined; readonly to: TargetNode | undefined }> {
  const endOf = async (id: string | undefined, argument: string) =>
    id === undefined ? undefined : objectOf(platform, id, argument);
  return { from: await endOf(fromId, "from_id"), to: await endOf(toId, "to_id") };
}

/** What ids are resolved to; only objects have types above their own. */
export type Known = RefNode & { readonly standard_id: string; readonly parent_types?: readonly string[] };

/** Resolves ids of objects and, where asked, relationships and sightings. @throws ConnectError not_found that names the ids. */
export async function objectsOf(
  platform: Platform,
  ids: readonly string[],
  argument: string,
  relationships = false,
): Promise<Known[]> {
  if (ids.length === 0) return [];
  const variables = { filters: all({ key: ["ids"], values: ids }), first: ids.length };
  const { stixCoreObjects } = await platform.graphql(OBJECTS, variables);
  const known = new Map<string, Known>();
  const learn = (page: Rows<Known> | null) => {
    for (const node of nodesOf(page)) for (const id of [node.id, node.standard_id]) known.set(id, node);
  };
  learn(stixCoreObjects);
  if (relationships && ids.some((id) => !known.has(id))) {
    const more = await platform.graphql(RELATIONSHIPS_BY_ID, variables);
    learn(more.stixCoreRelationships);
    learn(more.stixSightingRelationships);
  }
  // A list finds an object by an id that an import gave it, but does not show that id.
  for (const id of ids.filter((one) => one.includes("--") && !known.has(one))) {
    const { stixCoreObject } = await platform.graphql(OBJECT, { id });
    if (stixCoreObject !== null) known.set(id, stixCoreObject);
  }
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length > 0) {
    throw notFound(`${argument}: these do not exist or are not visible to you: ${missing.join(", ")}`);
  }
  return ids.map((id) => known.get(id) as Known);
}

/** What one id is resolved to; see objectsOf. */
export async function knownOf(platform: Platform, id: string, argument: string, relationships = false): Promise<Known> {
  const [known] = await objectsOf(platform, [id], argument, relationships);
  return known as Known;
}

/** The objects among these that the caller may see; in no order. */
export async function visibleOf(platform: Platform, ids: readonly string[]): Promise<RefNode[]> {
  if (ids.length === 0) return [];
  const found: RefNode[] = [];
  for (let at = 0; at < ids.length; at += MOST_IDS) {
    const part = ids.slice(at, at + MOST_IDS);
    const variables = { filters: all({ key: ["ids"], values: part }), first: part.length };
    const { stixCoreObjects } = await platform.graphql(OBJECTS, variables);
    found.push(...nodesOf(stixCoreObjects));
  }
  return found;
}

const MOST_IDS = 100;
