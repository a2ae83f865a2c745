import { SERVERS, scopesOfServer } from "../../services/shared/platforms.js";
import { type EntriesOf, prepareEntries } from "../../services/shared/tools/entries.js";
import { type ExplainCall, prepareExplainCall } from "../../services/shared/tools/explain-call.js";
import type { Tool } from "../../services/shared/tools/tools.js";
import { createReadQuery, type ReadQuery } from "./endpoint-query.js";
import { type ServedTool, serveTool } from "./served-tool.js";

/** One MCP server, as both eras present it. */
export interface McpServer {
  readonly name: string;
  /** All its tools, in file order. */
  readonly tools: readonly ServedTool[];
  /** The entries of its list for what a caller sees. */
  readonly entriesOf: EntriesOf;
  /** Says the error of a call of one of its tools. */
  readonly explainCall: ExplainCall;
  /** What the query of its URL may ask for. */
  readonly readQuery: ReadQuery;
  /** Its name and version as JSON text. */
  readonly serverInfo: string;
}

/** The servers by name, with their tools: those of the table, which always have an endpoint, and those that tools name. */
export function serversOf(tools: readonly Tool[], serviceName: string, version: string): Map<string, McpServer> {
  const names = new Set<string>([...SERVERS, ...tools.map((tool) => tool.server)]);
  const serverOf = (name: string): McpServer => {
    const own = tools.filter((tool) => tool.server === name);
    return {
      name,
      tools: own.map(serveTool),
      entriesOf: prepareEntries(own),
      explainCall: prepareExplainCall(own),
      readQuery: createReadQuery(own),
      serverInfo: JSON.stringify({ name, title: `${serviceName} ${name}`, version }),
    };
  };
  return new Map([...names].map((name) => [name, serverOf(name)]));
}

/** Every scope that a tool of the server needs, those to read first. */
export function scopesOf({ name, tools }: McpServer): string[] {
  const scopes = new Set([...scopesOfServer(name), ...tools.map(({ tool }) => tool.scope)]);
  return [...scopes];
}
