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
  const wanted = tenantId?.toLowerCase();
  const isOpen = ({ tenants }: OpenaevMe) =>
    openTenants(tenants).some((tenant) => wanted === undefined || tenant.tenant_id === wanted);
  const kept = await platform.me<OpenaevMe>();
  // Who was made a member of a tenant just now knows more than what is kept.
  const { tenants } = isOpen(kept) ? kept : await platform.meAnew<OpenaevMe>();
  const open = openTenants(tenants);
  if (open.length === 0) {
    throw permissionDenied(
      "this account is not a member of any tenant in OpenAEV; an administrator of OpenAEV adds it to one",
    );
  }
  const list = open.map((tenant) => `${tenant.tenant_name} (${tenant.tenant_id})`).join(", ");
  if (wanted === undefined) {
    if (open.length > 1) {
      throw failedPrecondition(`this account is a member of several tenants; give one of them as tenant_id: ${list}`);
    }
    return scopeOf(open[0] as OpenaevTenant);
  }
  const found = open.find((tenant) => tenant.tenant_id === wanted);
  if (found === undefined)
    throw notFound(`tenant_id: this account is not a member of tenant ${tenantId}; its tenants are: ${list}`);
  return scopeOf(found);
}

/** A tenant of the caller's, to act in. */
export function scopeOf({ tenant_id: id, tenant_name: name }: OpenaevTenant): TenantScope {
  return { id, name, path: (route) => `/api/tenants/${id}${route}` };
}
