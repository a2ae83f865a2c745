/** The tenant that every installation has, and of which GET /api/me speaks. */
export const DEFAULT_TENANT = "2cffad3a-0001-4078-b0e2-ef74274022c3";

/** What an OpenAEV-compatible platform says of the caller: GET /api/me and GET /api/me/tenants. */
export interface OpenaevMe {
  readonly user: {
    readonly user_id: string;
    readonly user_email: string;
    readonly user_firstname: string | null;
    readonly user_lastname: string | null;
    readonly user_capabilities: readonly string[];
    /** OBSERVER, PLANNER or LAUNCHER by the id of the object. */
    readonly user_grants: Readonly<Record<string, string>>;
    readonly user_admin: boolean;
    readonly user_is_admin_or_bypass: boolean;
  };
  readonly tenants: readonly OpenaevTenant[];
}

/** A tenant as the platform shows it to a member. */
export interface OpenaevTenant {
  readonly tenant_id: string;
  readonly tenant_name: string;
  readonly tenant_description?: string | null;
  readonly tenant_deleted_at?: string | null;
}

/** The tenants that have not been deleted. */
export function openTenants(tenants: readonly OpenaevTenant[]): OpenaevTenant[] {
  return tenants.filter((tenant) => tenant.tenant_deleted_at == null);
}
