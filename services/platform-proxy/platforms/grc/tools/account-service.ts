import { AccountService } from "#proto/grc/v1/account_service_pb.js";
import { unary } from "../../../binding.js";
import type { CisoMe } from "../adapter.js";
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
        return { id: tenant.id, name: tenant.name, capabilities: TOLD.filter((capability) => held.has(capability)) };
      }),
    };
  }),
];

const KINDS = ["appliedcontrol", "evidence", "requirementassessment", "riskscenario"];

/** Of some 400 codenames those that decide about tools here. */
const TOLD = [
  ...KINDS.flatMap((kind) => ["view", "add", "change", "delete"].map((verb) => `${verb}_${kind}`)),
  "add_evidencerevision",
  "view_framework",
  "view_operationalscenario",
];
