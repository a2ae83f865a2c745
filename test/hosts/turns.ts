// What each client sends its model of our tools with every turn: the request of one
// turn with a server in its configuration, less the same request without it.

import { entryOf } from "../../clients/packages/mcp-clients.js";
import { SERVERS } from "../../services/shared/platforms.js";
import { BASIC } from "../../services/shared/tools/tools.js";
import { type Service, titleOf } from "./behaviour.js";
import type { Host } from "./hosts.js";
import type { Wish } from "./model.js";
import { runHost } from "./run.js";

/** A model that calls nothing: one turn. */
const NOTHING: Wish = { tool: "", arguments: {} };
const QUERIES = { whole: "", basic: `?toolsets=${BASIC}` } as const;

/** The rows of a host: whole lists and, if it can send names, names. @param folder where the host is installed. */
export async function turnsOf(host: Host, folder: string, service: Service): Promise<string[][]> {
  const ways = [{ sends: "whole", env: {} }, ...(host.deferring ? [{ sends: "names", env: host.deferring }] : [])];
  const rows: string[][] = [];
  for (const { sends, env } of ways) {
    const turn = (entries: ReturnType<typeof entryOf>[]) =>
      runHost(host, folder, { entries, key: service.key, wish: NOTHING, env });
    const without = await turn([]);
    const cells: string[] = [];
    for (const servers of [...SERVERS.map((server) => [server]), SERVERS]) {
      const bytes: string[] = [];
      for (const query of Object.values(QUERIES)) {
        const seen = await turn(servers.map((server) => entryOf(service.baseUrl, server, query)));
        bytes.push(`${(seen.turn - without.turn).toLocaleString("en")} (${seen.tools})`);
      }
      cells.push(...bytes);
    }
    rows.push([titleOf(host), sends, ...cells]);
  }
  return rows;
}
