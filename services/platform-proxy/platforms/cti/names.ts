import { invalidArgument, notFound, permissionDenied } from "../../../shared/rpc/errors.js";
import type { Platform } from "../../platform.js";
import type { Marking, Me } from "./adapter.js";
import { operation } from "./graphql.js";
import { REF, type RefNode } from "./knowledge.js";
import { nodesOf } from "./paging.js";
import { all, any } from "./resolve.js";

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

/** The markings meant by names or ids, out of those the caller is cleared for. @throws ConnectError permission_denied. */
export async function markingsOf(platform: Platform, names: readonly string[], argument: string): Promise<Marking[]> {
  if (names.length === 0) return [];
  const find = ({ allowed_marking }: Me, name: string) => {
    const wanted = name.trim().toLowerCase();
    return (allowed_marking ?? []).find(
      ({ id, standard_id, definition }) => definition?.toLowerCase() === wanted || id === name || standard_id === name,
    );
  };
  let me = await platform.me<Me>();
  // What is remembered may be older than the marking, or the clearance.
  if (names.some((name) => find(me, name) === undefined)) me = await platform.meAnew<Me>();
  const found = names.flatMap((name) => find(me, name) ?? []);
  const missing = names.filter((name) => find(me, name) === undefined);
  if (missing.length === 0) return found;
  const refused = `${argument}: ${missing.join(", ")} ${missing.length === 1 ? "does" : "do"} not exist or you are not cleared for ${missing.length === 1 ? "it" : "them"}`;
  if (argument !== FILTERED) throw permissionDenied(`${refused}; whoami lists the markings that you may set`);
  const seen = (me.allowed_marking ?? []).flatMap(({ definition }) => definition ?? []).sort();
  throw permissionDenied(`${refused}; the markings that you may see are ${seen.join(", ")}`);
}

/** Where markings narrow a list, instead of being set. */
const FILTERED = "filter.markings";

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
    throw invalidArgument(
      `${argument}: several objects have the name ${author}; give one of these ids instead: ${choices}`,
    );
  }
  return (found[0] as RefNode).id;
}
