import type { Platform } from "../../platform.js";
import { type InFolder, readAllOfTenant } from "./lists.js";
import { readOwned, type Tenant } from "./tenancy.js";

/**
 * What a list is of, where the platform filters it by that and not by the
 * domain: the one that the caller names, or all of the tenant.
 *
 * @param argument the argument that names it.
 * @throws ConnectError not_found, as {@link readOwned}; resource_exhausted, as {@link readAllOfTenant}.
 */
export async function readNamedOrAll<T extends InFolder & { readonly id: string }>(
  platform: Platform,
  path: string,
  named: string | undefined,
  argument: string,
  tenant: Tenant,
): Promise<T[]> {
  return named === undefined
    ? readAllOfTenant<T>(platform, path, {}, tenant)
    : [await readOwned<T>(platform, path, named, argument, tenant)];
}
