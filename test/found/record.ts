// tsx test/found/record.ts FOLDER: writes foreign.json, what MCP servers of others say of
// their tools. FOLDER has a package.json that depends on their npm packages, installed.
// Nothing is called but tools/list, so no server needs an account.

import { readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { FILE, type Recorded } from "./foreign.js";

/** What a server wants to see before it lists its tools. */
const STARTS: Readonly<Record<string, { readonly args?: readonly string[]; readonly env?: Record<string, string> }>> = {
  "@modelcontextprotocol/server-filesystem": { args: ["."] },
  "@modelcontextprotocol/server-github": { env: { GITHUB_PERSONAL_ACCESS_TOKEN: "none" } },
  "@modelcontextprotocol/server-gitlab": { env: { GITLAB_PERSONAL_ACCESS_TOKEN: "none" } },
  "@modelcontextprotocol/server-slack": { env: { SLACK_BOT_TOKEN: "none", SLACK_TEAM_ID: "none" } },
  "@notionhq/notion-mcp-server": { env: { NOTION_TOKEN: "none" } },
  "@sentry/mcp-server": { args: ["--access-token=none"] },
};

const folder = resolve(process.argv[2] ?? ".");
const manifestOf = (path: string) => JSON.parse(readFileSync(join(folder, path, "package.json"), "utf8"));

async function record(name: string): Promise<Recorded> {
  const { version, bin } = manifestOf(join("node_modules", name));
  const file = typeof bin === "string" ? bin : Object.values<string>(bin)[0];
  const { args = [], env = {} } = STARTS[name] ?? {};
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [join("node_modules", name, file as string), ...args],
    env,
    cwd: folder,
    stderr: "ignore",
  });
  const client = new Client({ name: "measure-found", version: "0" });
  try {
    await client.connect(transport);
    const { tools } = await client.listTools();
    return {
      package: name,
      version,
      tools: tools.map(({ name, description = "", inputSchema }) => ({
        name,
        description,
        inputSchema: textsOf(inputSchema),
      })),
    };
  } finally {
    await client.close();
  }
}

/** A schema without what no search reads. */
function textsOf(schema: unknown): Recorded["tools"][number]["inputSchema"] {
  const { properties, items, description } = schema as Record<string, unknown>;
  return {
    ...(typeof description === "string" && { description }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties as object).map(([name, inner]) => [name, textsOf(inner)]),
      ),
    }),
    ...(typeof items === "object" && items !== null && { items: textsOf(items) }),
  };
}

const recorded: Recorded[] = [];
for (const name of Object.keys(manifestOf(".").dependencies).sort()) {
  const one = await record(name);
  process.stdout.write(`${one.tools.length} tools of ${name}@${one.version}\n`);
  recorded.push(one);
}
writeFileSync(FILE, `${JSON.stringify(recorded, null, 1)}\n`);
