import { AccountService } from "#proto/grc/v1/account_service_pb.js";
import { unary } from "../../../binding.js";
import type { CisoMe } from "../adapter.js";
import { RIGHTS_OF_TOOLS } from "../rights.js";
import { tenantAmong, tenantsOf } from "../tenancy.js";

/** How the tools of this service are answered. */
export const bindings = [
  unary(AccountService.method.whoami, async (r, platform) => {
    const open = await tenantsOf(platform, true);
    const tenants = r.tenantId === undefined ? open : [tenantAmong(open, r.tenantId)];
    const { id, email, name, actorId, isAdministrator, roles, rights } = await platform.me<CisoMe>();
    return {
      id,
      email,
      name,
      ...(actorId !== "" && { actor: { id: actorId } }),
      administrator: isAdministrator,
      roles: [...roles].sort(),
      tenants: tenants.map((tenant) => {
        const held = new Set([...tenant.domains.keys()].flatMap((domain) => [...(rights.get(domain) ?? [])]));
        return { id: tenant.id, name: tenant.name, capabilities: RIGHTS_OF_TOOLS.filter((right) => held.has(right)) };
      }),
    };
  }),
];
