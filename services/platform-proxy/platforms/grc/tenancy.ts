import { Code, ConnectError } from "@connectrpc/connect";
import { failedPrecondition, invalidArgument, notFound } from "../../../shared/rpc/errors.js";
import type { RestRequest } from "../../adapter.js";
import { objectOf } from "../../lib/answers.js";
import { inTurns } from "../../lib/in-turns.js";
import type { Platform } from "../../platform.js";
import type { CisoDomain, CisoMe } from "./adapter.js";
import type { Related } from "./upstream.js";

/**
 * A tenant: a domain directly under the platform's root, with the domains
 * inside it. Rights on the platform are by domain and may span tenants, so
 * that every object is held against the tenant here, read or referred to.
 */
export interface Tenant {
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** The tenant's own domain first, then those inside it. */
  readonly domains: ReadonlyMap<string, CisoDomain>;
  /** The platform was asked for it in this call. */
  readonly isFresh: boolean;
}

/**
 * A refusal that may come of what is kept of the caller's domains, and not of
 * the platform: see {@link inTenant}.
 */
export class DoubtfulError extends ConnectError {
  constructor({ rawMessage, code }: ConnectError) {
    super(rawMessage, code);
  }

  /** Where ConnectError's own would take each ConnectError for one. */
  static override [Symbol.hasInstance](value: unknown): boolean {
    return Object.prototype.isPrototypeOf.call(DoubtfulError.prototype, value as object);
  }
}

/**
 * Answers a call in the tenant that is meant: the one named, else the caller's
 * only one. Where an answer contradicts what is kept of the caller's domains
 * (one was made or deleted since, or a role given or taken), they are asked for
 * anew and the call is answered once more, unless it has written already.
 *
 * @throws ConnectError not_found for a tenant that is not the caller's,
 * invalid_argument with the list where several could be meant,
 * failed_precondition where there is none.
 */
export async function inTenant<T>(
  platform: Platform,
  tenantId: string | undefined,
  run: (tenant: Tenant, platform: Platform) => Promise<T>,
): Promise<T> {
  let hasWritten = false;
  const watched: Platform = Object.create(platform, {
    rest: {
      value: (request: RestRequest) => {
        hasWritten ||= request.verb !== "GET";
        return platform.rest(request);
      },
    },
  });
  try {
    return await run(tenantAmong(await tenantsOf(platform), tenantId), watched);
  } catch (error) {
    if (!(error instanceof DoubtfulError) || hasWritten) throw error;
    return run(tenantAmong(await tenantsOf(platform, true), tenantId), platform);
  }
}

/**
 * Makes sure of a tenant in which nothing was found: a list by domains that are
 * not the caller's any more is empty, and not refused.
 *
 * @throws DoubtfulError where the platform says otherwise by now.
 */
export async function makeSure(platform: Platform, tenant: Tenant): Promise<void> {
  if (tenant.isFresh) return;
  const now = (await tenantsOf(platform, true)).find(({ id }) => id === tenant.id);
  const isSame =
    now?.domains.size === tenant.domains.size && [...now.domains.keys()].every((id) => tenant.domains.has(id));
  if (!isSame) throw new DoubtfulError(notFound("the domains that you may see have just changed; call again"));
}

/**
 * The tenants that the caller may see, by name; of a tenant seen only in part, the topmost domains seen.
 *
 * @param anew asks the platform, whatever is kept.
 */
export async function tenantsOf(platform: Platform, anew = false): Promise<Tenant[]> {
  const { domains } = anew ? await platform.meAnew<CisoMe>() : await platform.me<CisoMe>();
  const seen = new Map(domains.map((domain) => [domain.id, domain]));
  const inside = new Map<string, Map<string, CisoDomain>>();
  for (const domain of domains) {
    let top = domain;
    // The platform allows no cycles; the bound is for one that does.
    for (let depth = 0; depth < 50; depth++) {
      const parent = seen.get(top.parentId ?? "");
      if (parent === undefined) break;
      top = parent;
    }
    const members = inside.get(top.id) ?? new Map([[top.id, top]]);
    inside.set(top.id, members.set(domain.id, domain));
  }
  const tenants = [...inside].map(([id, members]) => {
    const { name, description } = members.get(id)!;
    return { id, name, description, domains: members, isFresh: anew };
  });
  return tenants.sort((a, b) => (placeAmong(a) < placeAmong(b) ? -1 : 1));
}

/** What tenants are sorted by: their name, and their id where two have the same. */
export function placeAmong({ name, id }: Pick<Tenant, "name" | "id">): string {
  return `${name.slice(0, PLACE_CHARACTERS)} ${id}`;
}

/** A page token holds it. */
const PLACE_CHARACTERS = 100;

const NAMED = 20;

/**
 * The tenant that is meant: the one named, else the caller's only one.
 *
 * @throws DoubtfulError for one that is not the caller's, or where there is none;
 * ConnectError invalid_argument with the list, where several could be meant.
 */
export function tenantAmong(tenants: readonly Tenant[], tenantId: string | undefined): Tenant {
  if (tenantId !== undefined) {
    const named = tenants.find(({ id }) => id === tenantId.toLowerCase());
    if (named !== undefined) return named;
    throw new DoubtfulError(notFound("tenant_id: you have no such tenant; list_tenants lists your tenants"));
  }
  if (tenants.length === 0) {
    throw new DoubtfulError(
      failedPrecondition("you have no tenant in CISO Assistant; ask its administrator for a role in one"),
    );
  }
  if (tenants.length > 1) {
    const names = tenants.slice(0, NAMED).map(({ id, name }) => `${id} (${name})`);
    const more = tenants.length > NAMED ? `, and ${tenants.length - NAMED} more that list_tenants lists` : "";
    throw invalidArgument(`tenant_id: you have several tenants; give one of these ids: ${names.join(", ")}${more}`);
  }
  return tenants[0]!;
}

/** The domain to work in: the one named, which must lie in the tenant, else the tenant's own. */
export function domainOf(tenant: Tenant, domainId: string | undefined): string {
  if (domainId === undefined) return tenant.id;
  const id = domainId.toLowerCase();
  if (tenant.domains.has(id)) return id;
  throw new DoubtfulError(
    notFound(`domain_id: ${tenant.name} has no such domain that you may see; list_tenants lists the domains`),
  );
}

/** Whether the caller may do something in a domain, by the platform's codename for it. */
export async function mayIn(platform: Platform, domain: string, codename: string): Promise<boolean> {
  const { isAdministrator, rights } = await platform.me<CisoMe>();
  return isAdministrator || rights.get(domain)?.has(codename) === true;
}

/** Whether the caller may do something in every domain of a tenant, by the platform's codename for it. */
export async function mayEverywhere(platform: Platform, tenant: Tenant, codename: string): Promise<boolean> {
  const { isAdministrator, rights } = await platform.me<CisoMe>();
  return isAdministrator || [...tenant.domains.keys()].every((domain) => rights.get(domain)?.has(codename) === true);
}

/** The ids of the tenant's domains, for filters, which do not descend by themselves. */
export function domainIdsOf(tenant: Tenant): string[] {
  return [...tenant.domains.keys()];
}

/**
 * Reads an object as the caller, and holds its domain against the tenant.
 *
 * @param argument the argument that names the object.
 * @throws ConnectError not_found, the same for what does not exist, what is
 * hidden from the caller, and what another tenant owns; failed_precondition for
 * what is shared by all tenants, which is not one tenant's to change or refer to.
 */
export async function readOwned<T extends { readonly folder: Related }>(
  platform: Platform,
  path: string,
  id: string,
  argument: string,
  tenant: Tenant,
): Promise<T> {
  const object = await readShared<T>(platform, path, id, argument, tenant);
  if (tenant.domains.has(object.folder.id!)) return object;
  throw failedPrecondition(
    `${argument}: ${object.id} belongs to no single tenant and is shared by all tenants; change it in CISO Assistant itself`,
  );
}

/** Reads an object of the tenant, or one that lies above the tenants and is shared by all of them. */
export async function readShared<T extends { readonly folder: Related }>(
  platform: Platform,
  path: string,
  id: string,
  argument: string,
  tenant: Tenant,
): Promise<T & { readonly id: string }> {
  const object = await readNamed<T & { readonly id: string }>(platform, path, id, argument, tenant);
  const folder = object.folder?.id;
  if (folder !== undefined && tenant.domains.has(folder)) return object;
  const { rootId } = await platform.me<CisoMe>();
  if (folder === undefined || folder !== rootId) throw missing(argument, id, tenant);
  return object;
}

/** Reads every object that a write is to refer to, before it is written; their ids as the platform writes them. */
export async function readAllOwned(
  platform: Platform,
  path: string,
  ids: readonly string[],
  argument: string,
  tenant: Tenant,
): Promise<string[]> {
  const objects = await inTurns(ids, (id) =>
    readOwned<{ readonly id: string; readonly folder: Related }>(platform, path, id, argument, tenant),
  );
  return objects.map(({ id }) => id);
}

/** Reads an object that belongs to no tenant, such as an actor. */
export async function readNamed<T>(
  platform: Platform,
  path: string,
  id: string,
  argument: string,
  tenant: Tenant,
): Promise<T> {
  try {
    return objectOf(
      platform.server,
      await platform.rest<T>({ verb: "GET", path: `${path}${id.toLowerCase()}/` }),
      "id",
    );
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) throw missing(argument, id, tenant);
    throw error;
  }
}

function missing(argument: string, id: string, tenant: Tenant): ConnectError {
  return new DoubtfulError(notFound(`${argument}: ${tenant.name} has no ${id} that you may see`));
}
