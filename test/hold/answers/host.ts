// The process of the hostile remotes, so that what their answers cost is not the price of making them.

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { MCP_SERVERS, serveMcp } from "./mcp-servers.js";
import { EMBEDDERS, MODELS, obedient } from "./models.js";
import { type Exchange, silent } from "./remote.js";

const [servers, models, embedders] = [MCP_SERVERS, MODELS, EMBEDDERS].map(Object.keys) as [
  string[],
  string[],
  string[],
];
/** How often each was asked, by its path. */
const asked = new Map<string, number>();

async function answer(exchange: Exchange): Promise<void> {
  const [, what, n] = exchange.request.url!.split("/");
  if (what === "mcp") return serveMcp(servers[Number(n)]!, exchange);
  if (what === "model") return MODELS[models[Number(n)]!]!(exchange);
  if (what === "embedder") return EMBEDDERS[embedders[Number(n)]!]!(exchange);
  return what === "held" ? silent(exchange) : obedient(exchange);
}

const server = createServer({ maxHeaderSize: 2 ** 20 }, async (request, response) => {
  let body = "";
  for await (const chunk of request) body += chunk;
  const parsed = body === "" ? {} : JSON.parse(body);
  const path = `${request.url} ${parsed.method ?? ""}`;
  asked.set(path, (asked.get(path) ?? 0) + 1);
  response.on("error", () => undefined);
  try {
    await answer({ request, response, asked: parsed });
  } catch {
    response.destroy();
  }
});
server.listen(0, "127.0.0.1", () => process.send?.((server.address() as AddressInfo).port));
process.on("message", () => process.send?.(Object.fromEntries(asked)));
process.once("disconnect", () => process.exit(0));
