import type { Message } from "@bufbuild/protobuf";
import { invalidArgument } from "../../services/shared/rpc/errors.js";
import { TENANT_ARGUMENT, takesTenant } from "../../services/shared/tools/narrowing.js";
import type { Tool } from "../../services/shared/tools/tools.js";

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
