// The official TypeScript SDK's low-level server on node:http: no schemas of
// zod, no validation, no authentication.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { toNodeHandler } from "@modelcontextprotocol/node";
import { createMcpHandler, Server } from "@modelcontextprotocol/server";

const read = (name) => JSON.parse(readFileSync(join(process.env.FIXTURE, name), "utf8"));
const tools = read("tools.json");
const results = read("results.json");

function serverOf() {
  const server = new Server({ name: "peer", version: "1.0.0" }, { capabilities: { tools: {} } });
  server.setRequestHandler("tools/list", () => ({ tools }));
  server.setRequestHandler("tools/call", ({ params }) => {
    const structuredContent = results[params.name];
    return { content: [{ type: "text", text: JSON.stringify(structuredContent) }], structuredContent };
  });
  return server;
}

const handle = toNodeHandler(createMcpHandler(serverOf));
const http = createServer((request, response) => void handle(request, response));
http.listen(0, "127.0.0.1", () => process.stdout.write(`ready ${http.address().port}\n`));
