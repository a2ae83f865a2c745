import { invalidArgument, notFound, permissionDenied } from "../../../shared/rpc/errors.js";
import type { DataOf, VariablesOf } from "../../document.js";
import type { Platform } from "../../platform.js";
import type { Marking, Me } from "./adapter.js";
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

/** Objects by their ids. */
export const OBJECTS = operation(
  `
  query Objects($filters: FilterGroup, $first: Int) {
    stixCoreObjects(filters: $filters, first: $first) {
      edges {
        node {
          standard_id
          ...Ref
        }
      }
    }
  }
`,
  [REF],
);

/** Relationships by their ids. */
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
  }
`);

/** The types below a type. */
export const TYPES = operation(`
  query Types($type: String) {
    subTypes(type: $type, first: 500) {
      edges {
        node {
          id
        }
      }
    }
  }
`);

/** Which relationship types exist between which types. */
export const RELATION_TYPES = operation(`
  query RelationTypes {
    schemaRelationsTypesMapping {
      values
    }
  }
`);

/** Labels by their values. */
export const LABELS = operation(`
  query Labels($filters: FilterGroup, $first: Int) {
    labels(filters: $filters, first: $first) {
      edges {
        node {
          id
          value
        }
      }
    }
  }
`);

/** Identities by id or name. */
export const AUTHORS = operation(
  `
  query Authors($filters: FilterGroup) {
    stixDomainObjects(types: ["Identity"], filters: $filters, first: 3) {
      edges {
        node {
          ...Ref
        }
      }
    }
  }
`,
  [REF],
);

/** A group of conditions as the platform takes it. */
export type FilterGroup = NonNullable<VariablesOf<typeof OBJECTS>["filters"]>;

/** One condition of a filter; its values are ORed. */
export type Filter = FilterGroup["filters"][number];

/** Every condition holds. */
export const all = (...filters: Filter[]): FilterGroup => groupOf("and", filters);
/** One of the conditions holds. */
export const any = (...filters: Filter[]): FilterGroup => groupOf("or", filters);

// Operator and mode may be left out; they are written so that nothing hangs on what the platform takes then.
const groupOf = (mode: FilterGroup["mode"], filters: readonly Filter[]): FilterGroup => ({
  mode,
  filters: filters.map((filter) => ({ operator: "eq", mode: "or", ...filter })),
  filterGroups: [],
});

/** An object that a tool acts on. */
export type TargetNode = NonNullable<DataOf<typeof OBJECT>["stixCoreObject"]>;

/** @throws ConnectError not_found, for what does not exist and what is hidden alike. */
export async function objectOf(platform: Platform, id: string, argument = "object_id"): Promise<TargetNode> {
  const { stixCoreObject } = await platform.graphql(OBJECT, { id });
  if (stixCoreObject === null) throw notFound(`${argument}: no object with the id ${id} exists or is visible to you`);
  return stixCoreObject;
}

type Known = RefNode & { readonly standard_id: string };

/** Resolves ids of objects and, where asked, relationships. @throws ConnectError not_found that names the ids. */
export async function objectsOf(
  platform: Platform,
  ids: readonly string[],
  argument: string,
  relationships = false,
): Promise<RefNode[]> {
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
  }
  // A list finds an object by an id that an import gave it, but does not show that id.
  for (const id of ids.filter((one) => one.includes("--") && !known.has(one))) {
    const { stixCoreObject } = await platform.graphql(OBJECT, { id });
    if (stixCoreObject !== null) known.set(id, stixCoreObject);
  }
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length > 0) {
    throw notFound(
      `${argument}: nothing was written, because these do not exist or are not visible to you: ${missing.join(", ")}`,
    );
  }
  return ids.map((id) => known.get(id) as Known);
}

const ABSTRACT: Readonly<Record<string, readonly string[]>> = {
  "Stix-Domain-Object": ["Stix-Domain-Object", "Container", "Case", "Identity", "Location", "Threat-Actor"],
  "Stix-Cyber-Observable": ["Stix-Cyber-Observable"],
};

/** Checks type names, which the platform ignores where it does not know them. @throws ConnectError invalid_argument. */
export async function checkTypes(
  platform: Platform,
  types: readonly string[],
  bases: readonly string[],
  argument = "types",
): Promise<void> {
  if (types.length === 0) return;
  const known = new Set<string>();
  for (const base of bases) {
    const { subTypes } = await platform.graphql(TYPES, { type: base });
    for (const { id } of nodesOf(subTypes)) known.add(id);
    for (const name of ABSTRACT[base] ?? []) known.add(name);
  }
  const wrong = types.find((type) => !known.has(type));
  if (wrong === undefined) return;
  const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");
  const meant = [...known].find((name) => plain(name) === plain(wrong));
  throw invalidArgument(
    `${argument}: no type here is called ${wrong}; ${meant === undefined ? "list_entity_types gives the names" : `did you mean ${meant}?`}`,
  );
}

/** @throws ConnectError invalid_argument, for a relationship type that the platform does not know. */
export async function checkRelationTypes(
  platform: Platform,
  types: readonly string[],
  argument: string,
): Promise<void> {
  if (types.length === 0) return;
  const known = await relationTypesOf(platform);
  const wrong = types.find((type) => !known.includes(type));
  if (wrong !== undefined)
    throw invalidArgument(`${argument}: no relationship type is called ${wrong}; known are ${known.join(", ")}`);
}

/** The relationship types that the platform knows. */
export async function relationTypesOf(platform: Platform): Promise<string[]> {
  const { schemaRelationsTypesMapping } = await platform.graphql(RELATION_TYPES, {});
  return [...new Set(["related-to", ...schemaRelationsTypesMapping.flatMap(({ values }) => values)])].sort();
}

/** The markings meant by names or ids, out of those the caller is cleared for. @throws ConnectError permission_denied. */
export async function markingsOf(platform: Platform, names: readonly string[], argument: string): Promise<Marking[]> {
  if (names.length === 0) return [];
  const { allowed_marking } = await platform.me<Me>();
  const found = names.map((name) => {
    const wanted = name.trim().toLowerCase();
    const marking = (allowed_marking ?? []).find(
      ({ id, standard_id, definition }) => definition?.toLowerCase() === wanted || id === name || standard_id === name,
    );
    if (marking === undefined) {
      throw permissionDenied(
        `${argument}: ${name} does not exist or you are not cleared for it; whoami lists the markings that you may use`,
      );
    }
    return marking;
  });
  return found;
}

/** A label with its value. */
interface LabelNode {
  readonly id: string;
  readonly value: string;
}

/** The labels of these values, in any case, and the values that have none. */
export async function labelsOf(
  platform: Platform,
  values: readonly string[],
): Promise<{ readonly found: LabelNode[]; readonly missing: string[] }> {
  if (values.length === 0) return { found: [], missing: [] };
  const wanted = [...new Set(values.map((value) => value.trim().toLowerCase()))];
  const variables = { filters: all({ key: ["value"], values: wanted }), first: 100 };
  const { labels } = await platform.graphql(LABELS, variables);
  const byValue = new Map(nodesOf(labels).map(({ id, value }) => [value?.toLowerCase(), { id, value: value ?? "" }]));
  return {
    found: wanted.map((value) => byValue.get(value)).filter((label) => label !== undefined),
    missing: wanted.filter((value) => !byValue.has(value)),
  };
}

/** Ids of labels that must all exist. @throws ConnectError not_found. */
export async function labelIdsOf(platform: Platform, values: readonly string[], argument: string): Promise<string[]> {
  const { found, missing } = await labelsOf(platform, values);
  if (missing.length > 0) throw notFound(`${argument}: no label is called ${missing.join(", ")}`);
  return found.map(({ id }) => id);
}

/** The id of an author given by id or exact name. @throws ConnectError not_found or invalid_argument. */
export async function authorIdOf(platform: Platform, author: string, argument: string): Promise<string> {
  const filters = any({ key: ["name"], values: [author] }, { key: ["ids"], values: [author] });
  const { stixDomainObjects } = await platform.graphql(AUTHORS, {
    filters,
  });
  const found = nodesOf(stixDomainObjects);
  if (found.length === 0)
    throw notFound(
      `${argument}: no organization, individual or other identity of that id or name exists or is visible to you`,
    );
  if (found.length > 1) {
    const choices = found.map(({ id, entity_type }) => `${id} (${entity_type})`).join(", ");
    throw invalidArgument(`${argument}: several are called ${author}; give one of the ids ${choices}`);
  }
  return (found[0] as RefNode).id;
}
