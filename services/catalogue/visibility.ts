import type { Caller } from "../shared/rpc/call.js";
import type { Tool } from "../shared/tools/tools.js";

/** What the platform behind a server can do and the caller can do there; undefined where it could not be asked. */
export type Capabilities = ReadonlySet<string> | undefined;

/** The tools that a caller may see. */
export interface Visible {
  readonly listed: readonly Tool[];
  /** Not listed, but let through so that the call can say why the platform does not answer. */
  readonly unlisted: readonly Tool[];
}

/**
 * The tools of one open server that a caller may see, in file order:
 *
 *     visible = scope held ∧ platform can ∧ caller can
 *
 * Listing is a courtesy; the gates are in the services and on the platform.
 */
export function visibleTools(tools: readonly Tool[], caller: Caller, capabilities: Capabilities): Visible {
  const inScope = tools.filter((tool) => holdsScope(tool, caller));
  if (capabilities === undefined) {
    return { listed: inScope.filter((tool) => tool.readOnly), unlisted: inScope.filter((tool) => !tool.readOnly) };
  }
  return { listed: inScope.filter((tool) => missingOf(tool, capabilities).length === 0), unlisted: [] };
}

/** Whether the caller's credential reaches a tool. */
export function holdsScope({ scope }: Tool, { scopes }: Caller): boolean {
  return scopes.has(scope);
}

/** What a tool needs and the caller lacks; nothing where that could not be asked. */
export function missingOf({ needs }: Tool, capabilities: Capabilities): readonly string[] {
  if (capabilities === undefined || capabilities.has("*")) return [];
  return needs.filter((need) => !capabilities.has(need));
}
