import { invalidArgument } from "../shared/rpc/errors.js";
import { type Narrowing, TENANT_FORM, takesTenant, toolsetsOf } from "../shared/tools/narrowing.js";
import type { Tool } from "../shared/tools/tools.js";

/** How a request narrows an endpoint. */
export interface AskedNarrowing {
  readonly server: string;
  readonly toolsets: readonly string[];
  readonly exclude: readonly string[];
  readonly readOnly: boolean;
  readonly tenant: string;
}

/**
 * The narrowing that a request asks for.
 *
 * @param all the tools of the server.
 * @throws ConnectError invalid_argument for what the server does not know.
 */
export function narrowingOf(
  { server, toolsets, exclude, readOnly, tenant }: AskedNarrowing,
  all: readonly Tool[],
): Narrowing {
  const known = toolsetsOf(all);
  const names = new Set([...known, ...all.map(({ name }) => name)]);
  const strange = toolsets.find((name) => !known.includes(name)) ?? exclude.find((name) => !names.has(name));
  if (strange !== undefined)
    throw invalidArgument(
      `${JSON.stringify(strange)} is not a toolset of ${server}: its toolsets are ${known.join(", ")}`,
    );
  if (tenant !== "" && !all.some(takesTenant)) throw invalidArgument(`${server} has no tenants: omit tenant`);
  if (tenant !== "" && !TENANT_FORM.test(tenant)) throw invalidArgument("tenant must be the id of one tenant, a UUID");
  return {
    readOnly,
    toolsets: toolsets.length === 0 ? undefined : new Set(toolsets),
    excluded: new Set(exclude),
    tenant: tenant === "" ? undefined : tenant.toLowerCase(),
  };
}
