import { invalidArgument } from "../../../shared/rpc/errors.js";
import { inTurns } from "../../lib/in-turns.js";
import type { Platform } from "../../platform.js";
import { operation } from "./graphql.js";
import { nodesOf } from "./paging.js";

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

const ABSTRACT: Readonly<Record<string, readonly string[]>> = {
  "Stix-Domain-Object": ["Stix-Domain-Object", "Container", "Case", "Identity", "Location", "Threat-Actor"],
  "Stix-Cyber-Observable": ["Stix-Cyber-Observable"],
};

/** Whether other types are below a type. */
const isAbstract = (type: string): boolean => Object.values(ABSTRACT).some((names) => names.includes(type));

/** Checks type names, which the platform ignores where it does not know them. @throws ConnectError invalid_argument. */
export async function checkTypes(
  platform: Platform,
  types: readonly string[],
  bases: readonly string[],
  argument = "types",
): Promise<void> {
  if (types.length === 0) return;
  const known = new Set<string>();
  for (const base of bases) for (const name of await namesBelow(platform, base)) known.add(name);
  const wrong = types.find((type) => !known.has(type));
  if (wrong === undefined) return;
  const plain = (name: string) => name.toLowerCase().replace(/[^a-z0-9]/g, "");
  const meant = [...known].find((name) => plain(name) === plain(wrong));
  throw invalidArgument(
    `${argument}: ${wrong} is not a type that this argument accepts; ${meant === undefined ? "list_entity_types returns the names" : `did you mean ${meant}?`}`,
  );
}

/** The types below a type, abstract ones too, in the spelling that the platform takes. */
export async function namesBelow(platform: Platform, base: string): Promise<string[]> {
  const { subTypes } = await platform.graphql(TYPES, { type: base });
  return [...nodesOf(subTypes).map(({ id }) => id), ...(ABSTRACT[base] ?? [])];
}

/** Types with all that are below them. The platform breaks down when it is asked for what is below a type of objects. */
export async function withBelow(platform: Platform, types: readonly string[]): Promise<string[]> {
  const below = await inTurns(types.filter(isAbstract), (type) => namesBelow(platform, type));
  return [...new Set([...types, ...below.flat()])];
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
    throw invalidArgument(`${argument}: ${wrong} is not a relationship type; use one of: ${known.join(", ")}`);
}

/** The relationship types that the platform knows. */
export async function relationTypesOf(platform: Platform): Promise<string[]> {
  const { schemaRelationsTypesMapping } = await platform.graphql(RELATION_TYPES, {});
  return [...new Set(["related-to", ...schemaRelationsTypesMapping.flatMap(({ values }) => values)])].sort();
}
