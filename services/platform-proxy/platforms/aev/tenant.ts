import { failedPrecondition, notFound, permissionDenied } from "../../../shared/rpc/errors.js";
import type { Platform } from "../../platform.js";
import { type OpenaevMe, type OpenaevTenant, openTenants } from "./me.js";

/** The tenant that one call acts in. */
export interface TenantScope {
  readonly id: string;
  readonly name: string;
  /** The path of an API route inside the tenant: `path("/scenarios/search")`. */
  path(route: string): string;
}

/**
 * Finds the tenant a call acts in: the one named, or the caller's only one.
 *
 * The tenant always stands in the path: a path without one means the
 * platform's default tenant.
 *
 * @throws ConnectError that lists the caller's tenants, where none is named
 * and there are several, or one is named that is not the caller's.
 */
export async function tenantOf(platform: Platform, tenantId: string | undefined): Promise<TenantScope> {
  const { tenants } = await platform.me<OpenaevMe>();
  const open = openTenants(tenants);
  if (open.length === 0) {
    throw permissionDenied(
      "this account is a member of no tenant on the platform; an administrator of the platform adds it to one",
    );
  }
  const list = open.map((tenant) => `${tenant.tenant_name} (${tenant.tenant_id})`).join(", ");
  if (tenantId === undefined) {
    if (open.length > 1) {
      throw failedPrecondition(`this account is a member of several tenants; name one as tenant_id: ${list}`);
    }
    return scopeOf(open[0] as OpenaevTenant);
  }
  const found = open.find((tenant) => tenant.tenant_id === tenantId.toLowerCase());
  if (found === undefined) throw notFound(`tenant_id: ${tenantId} is not a tenant of this account, which has ${list}`);
  return scopeOf(found);
}

function scopeOf({ tenant_id: id, tenant_name: name }: OpenaevTenant): TenantScope {
  return { id, name, path: (route) => `/api/tenants/${id}${route}` };
}
