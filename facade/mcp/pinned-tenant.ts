import type { Message } from "@bufbuild/protobuf";
import { invalidArgument } from "../../services/shared/rpc/errors.js";
import { takesTenant } from "../../services/shared/tools/narrowing.js";
import { TENANT_ARGUMENT, TENANT_MEMBER } from "../../services/shared/tools/tenant.js";
import type { Tool } from "../../services/shared/tools/tools.js";
import type { NamedTenant } from "../catalogue/served-tool.js";

/**
 * Fills in the tenant that the URL of a connection names. The message is
 * looked at, not the arguments: those have more than one spelling.
 *
 * @throws ConnectError invalid_argument for another tenant.
 */
export function pinTenant(tool: Tool, request: Message, tenant: string): void {
  if (!takesTenant(tool)) return;
  const { localName } = tool.method.input.fields.find(({ name }) => name === TENANT_ARGUMENT)!;
  const fields = request as unknown as Record<string, string | undefined>;
  const given = fields[localName] || tenant;
  if (given.toLowerCase() !== tenant) {
    throw invalidArgument(
      `${TENANT_ARGUMENT}: the URL of this connection is for the tenant ${tenant}, not for this one: omit ${TENANT_ARGUMENT}, or use a connection for the other tenant`,
    );
  }
  fields[localName] = tenant;
}

/** The tenant of a call, for results that do not say it themselves; undefined if the caller does not have several. */
export function tenantOf(
  { method, result }: Tool,
  request: Message,
  tenants: ReadonlyMap<string, string>,
): NamedTenant | undefined {
  if (tenants.size === 0 || result.fields.some(({ name }) => name === TENANT_MEMBER)) return undefined;
  const id = (request as unknown as Record<string, string | undefined>)[localNameOf(method) ?? ""]?.toLowerCase();
  return id ? { id, name: tenants.get(id) ?? "" } : undefined;
}

function localNameOf({ input }: Tool["method"]): string | undefined {
  return input.fields.find(({ name }) => name === TENANT_ARGUMENT)?.localName;
}
