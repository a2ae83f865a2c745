import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { SERVERS } from "../../../services/shared/platforms.js";
import type { Command } from "../command.js";
import type { Session } from "../session.js";
import { UsageError } from "../usage-error.js";

/** A tool that answered with an error; its text is for standard error. */
export class ToolError extends Error {}

/** Calls tools, as an MCP client does. */
export const tools: readonly Command[] = [
  {
    noun: "tools",
    verb: "list",
    doc: `List the tools you may use on a server, one of ${SERVERS.join(", ")}.`,
    positionals: ["SERVER"],
    flags: {},
    run: (session, { args }) =>
      withClient(session, args.SERVER as string, async (client) => {
        const { tools: found } = await client.listTools();
        return { tools: found.map(({ name, description }) => ({ name, description })) };
      }),
  },
  {
    noun: "tools",
    verb: "call",
    doc: "Call a tool with its arguments as JSON.",
    positionals: ["SERVER", "TOOL", "JSON"],
    flags: {},
    run: (session, { args }) =>
      withClient(session, args.SERVER as string, async (client) => {
        const result = await client.callTool({ name: args.TOOL as string, arguments: objectOf(args.JSON as string) });
        const content = result.content as { type: string; text?: string }[];
        const text = content.map((block) => block.text ?? `(${block.type})`).join("\n");
        if (result.isError) throw new ToolError(text);
        return result.structuredContent ?? content;
      }),
  },
];

async function withClient<T>(session: Session, server: string, use: (client: Client) => Promise<T>): Promise<T> {
  const client = new Client({ name: "sallyport-cli", version: "1.0.0" });
  const requestInit = { headers: { authorization: `Bearer ${session.apiKey}` } };
  const url = new URL(`${session.url}/mcp/${encodeURIComponent(server)}`);
  // The transport's own declaration leaves out what exactOptionalPropertyTypes asks for.
  await client.connect(new StreamableHTTPClientTransport(url, { requestInit }) as Transport);
  try {
    return await use(client);
  } finally {
    await client.close();
  }
}

function objectOf(json: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new UsageError(`the arguments are not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError("the arguments must be a JSON object, such as '{}'");
  }
  return value as Record<string, unknown>;
}
