import { readImage } from "../../services/shared/tools/image.js";
import { type ListCost, listCost } from "../../services/shared/tools/list-cost.js";
import {
  type Narrowing,
  queryOf,
  TENANT_FORM,
  takesTenant,
  toolsetsOf,
  WHOLE,
} from "../../services/shared/tools/narrowing.js";
import { BASIC, readTools, type Tool } from "../../services/shared/tools/tools.js";
import type { McpClient } from "../packages/mcp-clients.js";
import { UsageError } from "./failures.js";

// The query of a server's URL as a client's configuration has it, and what the
// list that it leaves costs a model. Both are read from the API, not asked of the service.

/** How a person narrows URLs. */
export interface Asked {
  /** Names between commas, or ALL; undefined for what suits the client. */
  readonly toolsets?: string | undefined;
  readonly exclude?: string | undefined;
  readonly readonly?: boolean;
  readonly tenant?: string | undefined;
}

/** The word for a URL that does not choose toolsets. */
export const ALL = "all";

/** A narrowed URL: its query, and what that means. */
export interface Narrowed {
  /** With the question mark; "" for none. */
  readonly query: string;
  readonly narrowing: Narrowing;
}

/**
 * Narrows the URLs of some servers for a client: to BASIC if it sends all tools with every turn and nobody asks otherwise.
 *
 * @throws UsageError for what one of the servers does not know.
 */
export function narrowedFor({ sends }: Pick<McpClient, "sends">, servers: readonly string[], asked: Asked): Narrowed {
  const chosen = asked.toolsets ?? (sends === "all" ? BASIC : ALL);
  const toolsets = chosen === ALL ? undefined : namesIn(chosen);
  const excluded = asked.exclude === undefined ? [] : namesIn(asked.exclude);
  for (const server of servers) {
    const own = toolsOf(server);
    const known = toolsetsOf(own);
    const hint = servers.length > 1 ? "; use --server to choose one server" : "";
    check("toolset", toolsets ?? [], known, server, known, hint);
    check("toolset or tool", excluded, [...known, ...own.map(({ name }) => name)], server, known, hint);
    if (asked.tenant !== undefined && !own.some(takesTenant))
      throw new UsageError(`--tenant: ${server} has no tenants; name a server that has them with --server`);
  }
  if (asked.tenant !== undefined && !TENANT_FORM.test(asked.tenant))
    throw new UsageError("--tenant takes the id of one tenant, a UUID");
  const narrowing: Narrowing = {
    ...WHOLE,
    readOnly: asked.readonly ?? false,
    toolsets: toolsets && new Set(toolsets),
    excluded: new Set(excluded),
    tenant: asked.tenant?.toLowerCase(),
  };
  return { query: queryOf(narrowing), narrowing };
}

/** What the list of one server costs. */
export type ServerCost = ListCost & { readonly server: string };

/** What the list of a server costs, for a caller who may use every tool. */
export function costOf(server: string, narrowing: Narrowing): ServerCost {
  const own = toolsOf(server);
  return { server, ...listCost(own, own, narrowing) };
}

/** A list's cost in words. */
export function costInWords({ sends }: Pick<McpClient, "sends">, cost: ServerCost): string {
  const { server, tools, bytes, tokens, namesBytes, namesTokens } = cost;
  const whole = `${server}: ${tools} tools, ${kilobytes(bytes)}, about ${inHundreds(tokens)} tokens`;
  if (sends !== "names") return whole;
  return `${whole} if all are sent; ${kilobytes(namesBytes)}, about ${inHundreds(namesTokens)} tokens, if the client sends names and searches`;
}

const kilobytes = (bytes: number): string => `${Math.round(bytes / 1_000)} KB`;
const inHundreds = (tokens: number): string => (Math.round(tokens / 100) * 100).toLocaleString("en");
const namesIn = (text: string): string[] => text.split(",").map((name) => name.trim());
/** The tools of a server, as this version has them. */
export const toolsOf = (server: string): Tool[] => readTools(readImage()).filter((tool) => tool.server === server);

function check(
  what: string,
  names: readonly string[],
  known: readonly string[],
  server: string,
  toolsets: readonly string[],
  hint: string,
) {
  const strange = names.find((name) => !known.includes(name));
  if (strange === undefined) return;
  throw new UsageError(`"${strange}" is not a ${what} of ${server}: its toolsets are ${toolsets.join(", ")}${hint}`);
}
