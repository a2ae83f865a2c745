import { invalidArgument } from "../../shared/rpc/errors.js";
import { closestName } from "../../shared/tools/codec/closest-name.js";

/** Tools of remote MCP servers are named so; which there are is known when a run lists them. */
const REMOTE = "mcp/";
/** Names that a refusal speaks of. */
const NAMED = 10;

/**
 * Checks that each pattern names at least one tool: an agent with a name that nothing has works without it and nobody
 * hears of it.
 *
 * @param names as server/tool.
 * @throws ConnectError invalid_argument that names those that nothing has, each with the nearest one.
 */
export function checkToolNames(patterns: readonly string[], names: ReadonlySet<string>): void {
  const unknown = patterns.filter((pattern) => !pattern.startsWith(REMOTE) && !isKnown(pattern, names));
  if (unknown.length === 0) return;
  const servers = [...new Set([...names].map((name) => name.split("/", 1)[0] as string))];
  const said = unknown.slice(0, NAMED).map((pattern) => sayingOf(pattern, names, servers));
  const more = unknown.length > NAMED ? ` and ${unknown.length - NAMED} more` : "";
  throw invalidArgument(`unknown tool: ${said.join("; ")}${more}. tools/list of a server returns its tools`);
}

/** Whether a pattern is a name, or has some names: `*` stands for any characters. */
export function isKnown(pattern: string, names: ReadonlySet<string>): boolean {
  if (!pattern.includes("*")) return names.has(pattern);
  const parts = pattern.split("*");
  for (const name of names) if (matchesParts(parts, name)) return true;
  return false;
}

/** Part after part, so that no pattern takes longer than its length times the name's. */
export function matchesParts(parts: readonly string[], name: string): boolean {
  const [first, last] = [parts[0] as string, parts.at(-1) as string];
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (let n = 1; n < parts.length - 1; n++) {
    const part = parts[n] as string;
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return name.length - at >= last.length && name.endsWith(last);
}

function sayingOf(pattern: string, names: ReadonlySet<string>, servers: readonly string[]): string {
  const [server = "", name = ""] = pattern.split("/", 2);
  if (!servers.includes(server)) return `${pattern} (servers are ${servers.join(", ")} and mcp)`;
  const siblings = [...names].filter((one) => one.startsWith(`${server}/`)).map((one) => one.slice(server.length + 1));
  const near = name.includes("*") ? undefined : closestName(name, siblings);
  return near === undefined ? pattern : `${pattern} (did you mean ${server}/${near}?)`;
}
