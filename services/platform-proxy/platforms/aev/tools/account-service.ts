import { Code, ConnectError } from "@connectrpc/connect";
import { AccountService, GrantLevel } from "#proto/aev/v1/account_service_pb.js";
import { unary } from "../../../binding.js";
import { enumOf } from "../../../lib/words.js";
import type { Platform } from "../../../platform.js";
import { DEFAULT_TENANT, type OpenaevMe, type OpenaevTenant, openTenants } from "../me.js";
import { scopeOf } from "../tenant.js";

/** How the tools of this service are answered. */
export const bindings = [
  unary(AccountService.method.whoami, async (_, platform) => {
    const me = await platform.meAnew<OpenaevMe>();
    const { user } = me;
    return {
      id: user.user_id,
      email: user.user_email,
      name: [user.user_firstname, user.user_lastname].filter(Boolean).join(" "),
      unrestricted: user.user_is_admin_or_bypass,
      grants: Object.entries(user.user_grants).map(([id, level]) => ({
        object: { id },
        level: enumOf(GrantLevel, level),
      })),
      tenants: await Promise.all(
        openTenants(me.tenants).map(async (tenant) => ({
          id: tenant.tenant_id,
          name: tenant.tenant_name,
          description: tenant.tenant_description ?? "",
          ...(await rightsIn(platform, me, tenant)),
        })),
      ),
    };
  }),
];

/** No object has it. */
const NOTHING = "00000000-0000-4000-8000-000000000000";
const ONE = { page: 0, size: 1 };

/**
 * What the account may do in a tenant. Of others than the default one the
 * platform does not say, so what can be seen there without changing anything is
 * tried: it refuses a read for lack of a right before it looks for the object.
 */
async function rightsIn(platform: Platform, { user }: OpenaevMe, tenant: OpenaevTenant) {
  if (user.user_is_admin_or_bypass) return {};
  if (tenant.tenant_id === DEFAULT_TENANT) return { capabilities: [...user.user_capabilities].sort() };
  const { path } = scopeOf(tenant);
  const search = (route: string) => ({ verb: "POST", path: path(route), body: ONE, read: true }) as const;
  const get = (route: string) => ({ verb: "GET", path: path(route) }) as const;
  const tried = [
    ["ACCESS_ASSESSMENT", get(`/scenarios/${NOTHING}`)],
    ["ACCESS_ASSETS", search("/endpoints/search")],
    // It gives no challenge by its id.
    ["ACCESS_CHALLENGES", get("/challenges")],
    ["ACCESS_CHANNELS", get(`/channels/${NOTHING}`)],
    ["ACCESS_DOCUMENTS", get(`/documents/${NOTHING}`)],
    ["ACCESS_FINDINGS", search("/findings/search")],
    ["ACCESS_LESSONS_LEARNED", get(`/lessons_templates/${NOTHING}/lessons_template_categories`)],
    ["ACCESS_PAYLOADS", get(`/payloads/${NOTHING}`)],
  ] as const;
  const held = await Promise.all(
    tried.map(async ([right, request]) => {
      const refused = await platform.rest(request).then(
        () => undefined,
        (error: unknown) => ConnectError.from(error),
      );
      if (refused?.code === Code.PermissionDenied) return [];
      if (refused !== undefined && refused.code !== Code.NotFound) throw refused;
      return [right];
    }),
  );
  return { capabilities: held.flat(), readsOnly: true };
}
