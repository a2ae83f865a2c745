import { Code, ConnectError } from "@connectrpc/connect";
import { failedPrecondition, invalidArgument, notFound } from "../../../shared/rpc/errors.js";
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
}

/** The tenants that the caller may see, by name; of a tenant seen only in part, the topmost domains seen. */
export async function tenantsOf(platform: Platform): Promise<Tenant[]> {
  const { domains } = await platform.me<CisoMe>();
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
    return { id, name, description, domains: members };
  });
  return tenants.sort((a, b) => a.name.localeCompare(b.name, "en") || a.id.localeCompare(b.id));
}

const NAMED = 20;

/**
 * The tenant that is meant: the one named, else the caller's only one.
 *
 * @throws ConnectError not_found for one that is not the caller's,
 * invalid_argument with the list where several could be meant.
 */
export async function tenantOf(platform: Platform, tenantId: string | undefined): Promise<Tenant> {
  const tenants = await tenantsOf(platform);
  if (tenantId !== undefined) {
    const named = tenants.find(({ id }) => id === tenantId);
    if (named === undefined) throw notFound("tenant_id: no such tenant is open to you; list_tenants lists yours");
    return named;
  }
  if (tenants.length === 0) {
    throw failedPrecondition("no tenant is open to you on the grc platform; ask its administrator for a role in one");
  }
  if (tenants.length > 1) {
    const names = tenants.slice(0, NAMED).map(({ id, name }) => `${id} (${name})`);
    const more = tenants.length > NAMED ? `, and ${tenants.length - NAMED} more that list_tenants lists` : "";
    throw invalidArgument(`tenant_id: you have several tenants, say which: ${names.join(", ")}${more}`);
  }
  return tenants[0]!;
}

/** The domain to work in: the one named, which must lie in the tenant, else the tenant's own. */
export function domainOf(tenant: Tenant, domainId: string | undefined): string {
  if (domainId === undefined) return tenant.id;
  if (!tenant.domains.has(domainId)) {
    throw notFound(`domain_id: ${tenant.name} has no such domain that you may see; list_tenants lists them`);
  }
  return domainId;
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
 * hidden from the caller, and what another tenant owns.
 */
export async function readOwned<T extends { readonly folder: Related }>(
  platform: Platform,
  path: string,
  id: string,
  argument: string,
  tenant: Tenant,
): Promise<T> {
  const object = await readNamed<T>(platform, path, id, argument, tenant);
  if (object.folder?.id === undefined || !tenant.domains.has(object.folder.id)) throw missing(argument, id, tenant);
  return object;
}

/** Reads an object of a library: of the tenant, or shared by all of them. */
export async function readShared<T extends { readonly folder: Related }>(
  platform: Platform,
  path: string,
  id: string,
  argument: string,
  tenant: Tenant,
): Promise<T> {
  const { rootId } = await platform.me<CisoMe>();
  const object = await readNamed<T>(platform, path, id, argument, tenant);
  const folder = object.folder?.id;
  if (folder === undefined || (folder !== rootId && !tenant.domains.has(folder))) throw missing(argument, id, tenant);
  return object;
}

/** Reads every object that a write is to refer to, before it is written. */
export async function readAllOwned(
  platform: Platform,
  path: string,
  ids: readonly string[],
  argument: string,
  tenant: Tenant,
): Promise<void> {
  await inTurns(ids, (id) => readOwned(platform, path, id, argument, tenant));
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
    return objectOf(platform.server, await platform.rest<T>({ verb: "GET", path: `${path}${id}/` }), "id");
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) throw missing(argument, id, tenant);
    throw error;
  }
}

function missing(argument: string, id: string, tenant: Tenant): ConnectError {
  return notFound(`${argument}: ${tenant.name} has no ${id} that you may see`);
}
