import { AccountService, GrantLevel } from "#proto/aev/v1/account_service_pb.js";
import { unary } from "../../../binding.js";
import { enumOf } from "../../../lib/words.js";
import { type OpenaevMe, openTenants } from "../me.js";

/** How the tools of this service are answered. */
export const bindings = [
  unary(AccountService.method.whoami, async (_, platform) => {
    const { user, tenants } = await platform.me<OpenaevMe>();
    return {
      id: user.user_id,
      email: user.user_email,
      name: [user.user_firstname, user.user_lastname].filter(Boolean).join(" "),
      unrestricted: user.user_is_admin_or_bypass,
      capabilities: [...user.user_capabilities].sort(),
      grants: Object.entries(user.user_grants).map(([id, level]) => ({
        object: { id },
        level: enumOf(GrantLevel, level),
      })),
      tenants: openTenants(tenants).map((tenant) => ({
        id: tenant.tenant_id,
        name: tenant.tenant_name,
        description: tenant.tenant_description ?? "",
      })),
    };
  }),
];
