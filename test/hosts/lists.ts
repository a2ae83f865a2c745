import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { entryOf } from "../../clients/packages/mcp-clients.js";
import { SERVERS } from "../../services/shared/platforms.js";
import type { Service } from "./behaviour.js";
import type { Seen } from "./page.js";

/** The tools that a key has on each server, and their bytes in tools/list. */
export async function listsOf({ baseUrl, key }: Pick<Service, "baseUrl" | "key">): Promise<Seen["lists"]> {
  const lists: Seen["lists"][number][] = [];
  for (const server of SERVERS) {
    const client = new Client({ name: "lists", version: "1" });
    const headers = { authorization: `Bearer ${key}` };
    const url = new URL(entryOf(baseUrl, server).url);
    await client.connect(new StreamableHTTPClientTransport(url, { requestInit: { headers } }) as never);
    const { tools } = await client.listTools();
    lists.push({ server, tools: tools.length, bytes: Buffer.byteLength(JSON.stringify(tools)) });
    await client.close();
  }
  return lists;
}
