import { parsedUrl } from "../../../shared/parsed-url.js";
import { failedPrecondition, invalidArgument } from "../../../shared/rpc/errors.js";
import { objectOf } from "../../lib/answers.js";
import type { Platform } from "../../platform.js";
import type { InFolder } from "./lists.js";
import { readAllOwned, readOwned, type Tenant } from "./tenancy.js";
import { type Related, referencesOf } from "./upstream.js";

// What every write of an object comes to: what it refers to is read first, as
// the caller; what the platform drops without a word is told; and what is handed
// out is read back, since writes are answered with codes and ids only.

/** An object that is written. */
export type Written = InFolder & { readonly id: string; readonly name: string };

/** A list of ids that a write puts in place of the one there. */
export interface Replacement {
  /** What the platform calls it. */
  readonly field: string;
  /** Where the objects are listed. */
  readonly path: string;
  readonly argument: string;
  readonly ids: readonly string[];
  /** Takes all away. */
  readonly clear?: boolean;
}

/** Creates an object; its id. */
export async function create(platform: Platform, path: string, body: object): Promise<string> {
  return objectOf<{ id: string }>(platform.server, await platform.rest({ verb: "POST", path, body }), "id").id;
}

/** Changes an object of the tenant that was read before; as it is after. */
export async function change<T extends Written>(
  platform: Platform,
  path: string,
  { id }: Written,
  argument: string,
  body: object,
  tenant: Tenant,
): Promise<T> {
  await platform.rest({ verb: "PATCH", path: `${path}${id}/`, body });
  return readOwned<T>(platform, path, id, argument, tenant);
}

/** Deletes an object of the tenant; what it was. */
export async function remove(platform: Platform, path: string, id: string, argument: string, tenant: Tenant) {
  const found = await readOwned<Written>(platform, path, id, argument, tenant);
  await platform.rest({ verb: "DELETE", path: `${path}${found.id}/` });
  return { deleted: { id: found.id, name: found.name } };
}

/** The ids that an object is created with, by what the platform calls the lists. */
export async function linksOf(platform: Platform, lists: readonly Replacement[], tenant: Tenant) {
  const links: Record<string, string[]> = {};
  for (const { field, path, ids, argument } of lists) {
    links[field] = await readAllOwned(platform, path, ids, argument, tenant);
  }
  return links;
}

/**
 * The lists of ids that a change puts in place of those there, by what the platform calls them.
 *
 * @throws ConnectError failed_precondition, rather than drop what the caller does not see.
 */
export async function replacedIn(
  platform: Platform,
  before: object,
  lists: readonly Replacement[],
  tenant: Tenant,
): Promise<Record<string, string[]>> {
  const given = lists.filter(({ ids, clear }) => ids.length > 0 || clear === true);
  for (const { field, argument } of given) {
    const { hidden } = referencesOf(listIn(before, field));
    if (hidden > 0) {
      throw failedPrecondition(
        `${argument}: the new list would remove entries that you may not see (${hidden}); ask a user who can see them to change it`,
      );
    }
  }
  return linksOf(platform, given, tenant);
}

/** Names of the lists that are not as they were to be, in the words of the tools. */
export function notReplaced(after: object, wanted: Readonly<Record<string, string[]>>, lists: readonly Replacement[]) {
  return Object.entries(wanted)
    .filter(([field, ids]) => !sameIds(listIn(after, field), ids))
    .map(([field]) => lists.find((list) => list.field === field)?.argument ?? field);
}

function sameIds(found: readonly Related[], wanted: readonly string[]): boolean {
  return found.length === wanted.length && found.every(({ id }) => id !== undefined && wanted.includes(id));
}

const listIn = (object: object, field: string) =>
  ((object as Readonly<Record<string, unknown>>)[field] ?? []) as readonly Related[];

/** An empty text takes a value away. */
export const emptied = (text: string | undefined) => (text === "" ? null : text);

/**
 * A link as it is written; an empty text takes it away.
 *
 * @throws ConnectError invalid_argument for what is no web address: the platform keeps any text as the link of a control.
 */
export function linkOf(link: string | undefined): string | null | undefined {
  if (link === undefined || link === "") return emptied(link);
  if (WEB.test(link) && parsedUrl(link) !== undefined) return link;
  throw invalidArgument("link: is not a web address; give one that begins with https:// or http://");
}

/** How what the platform itself takes begins, where it checks a link: https:foo is https://foo for URL alone. */
const WEB = /^(?:https?|ftps?):\/\/[^\s/?#.][^\s]*$/i;
