import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { VERSION } from "../../../shared/process/version.js";
import type { Caller } from "../../../shared/rpc/call.js";
import { failedPrecondition } from "../../../shared/rpc/errors.js";
import { shorten } from "../../../shared/tools/shorten.js";
import type { Context } from "../../context.js";
import { type ListedTool, pinOf, type ToolPin } from "../../kinds/mcp-servers/pins.js";
import type { McpServerRecord } from "../../kinds/mcp-servers/record.js";
import { readable } from "../../objects/gate.js";
import { failureOf, type Outgoing } from "../outgoing.js";
import type { Redactor } from "../redact.js";
import { headersOf } from "../secrets.js";
import { type AgentTool, functionName } from "./agent-tool.js";

/** Tools that are read of one server, and pages of its list. */
const MAX_TOOLS = 128;
const MAX_PAGES = 20;
/** How long a server may take for its list, and for a call, in milliseconds. */
const LIST_MS = 15_000;
const CALL_MS = 120_000;
const SHOWN = 40 * 1024;

/** What remote servers are reached with. */
export interface RemoteParts {
  readonly context: Context;
  readonly outgoing: Outgoing;
  readonly redactor: Redactor;
}

/** A connected remote MCP server. */
export interface Remote {
  readonly tools: readonly AgentTool[];
  /** The tools as they are pinned. */
  readonly pins: readonly ToolPin[];
  close(): Promise<void>;
}

/** How a run connects to a remote MCP server. */
export interface Connection {
  /** What the agent names in full, as mcp/TOOL. */
  readonly named: ReadonlySet<string>;
  /** Names of functions that others have. */
  readonly taken: Set<string>;
  readonly signal: AbortSignal;
  /** Those of the listed tools that the run may use: each can be pinned. */
  readonly choose: <T extends ListedTool>(listed: readonly T[]) => Promise<T[]>;
}

/**
 * Connects to a remote MCP server and reads its tools. One that may destroy, by
 * its annotations and the protocol's defaults, is left out unless it is named as
 * mcp/TOOL.
 *
 * @throws Error that says why it cannot be used.
 */
export async function connectRemote(
  record: McpServerRecord,
  { named, taken, signal, choose }: Connection,
  parts: RemoteParts,
): Promise<Remote> {
  const client = await connect(record, parts);
  try {
    const tools: AgentTool[] = [];
    const pins: ToolPin[] = [];
    for (const tool of await choose(await listAll(client, signal))) {
      const { readOnlyHint = false, destructiveHint = !readOnlyHint } = tool.annotations ?? {};
      if (destructiveHint && !named.has(`mcp/${tool.name}`)) continue;
      const name = functionName(`mcp__${record.name}__${tool.name}`, taken);
      taken.add(name);
      tools.push(remoteTool(record, tool, { ...parts, name, readOnly: readOnlyHint, client }));
      pins.push(pinOf(tool)!);
    }
    return { tools, pins, close: () => client.close() };
  } catch (error) {
    await client.close().catch(() => undefined);
    throw error;
  }
}

async function listAll(client: Client, signal: AbortSignal): Promise<Listed[]> {
  const tools: Listed[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES && tools.length < MAX_TOOLS; page++) {
    const listed = await client.listTools(cursor === undefined ? {} : { cursor }, { signal, timeout: LIST_MS });
    tools.push(...listed.tools);
    cursor = listed.nextCursor;
    if (cursor === undefined) break;
  }
  return tools.slice(0, MAX_TOOLS);
}

/** The tools of a remote MCP server. @throws Error that says why it cannot be used. */
export async function listRemote(record: McpServerRecord, signal: AbortSignal, parts: RemoteParts): Promise<Listed[]> {
  const client = await connect(record, parts);
  try {
    return await listAll(client, signal);
  } finally {
    await client.close().catch(() => undefined);
  }
}

/** Opens a connection as an MCP client. Only who runs agents with remote servers loads the SDK. */
async function connect(record: McpServerRecord, { context, outgoing, redactor }: RemoteParts): Promise<Client> {
  const { Client } = await import("@modelcontextprotocol/sdk/client/index.js");
  const client = new Client({ name: "sallyport", version: VERSION });
  const options = { requestInit: { headers: headersOf(context, record, redactor) }, fetch: outgoing.fetch as never };
  const url = new URL(record.url);
  const transport = await (record.transport === "sse"
    ? import("@modelcontextprotocol/sdk/client/sse.js").then((sdk) => new sdk.SSEClientTransport(url, options))
    : import("@modelcontextprotocol/sdk/client/streamableHttp.js").then(
        (sdk) => new sdk.StreamableHTTPClientTransport(url, options),
      ));
  try {
    await client.connect(transport as Transport, { timeout: LIST_MS });
    return client;
  } catch (error) {
    await client.close().catch(() => undefined);
    throw new Error(failureOf(error, redactor), { cause: error });
  }
}

type Listed = Awaited<ReturnType<Client["listTools"]>>["tools"][number];

function remoteTool(
  { _id, name: server }: McpServerRecord,
  { name: tool, description, inputSchema }: Listed,
  more: RemoteParts & { readonly name: string; readonly readOnly: boolean; readonly client: Client },
): AgentTool {
  return {
    name: more.name,
    label: `${server}/${tool}`,
    description: shorten(more.redactor.redact(description ?? tool), 2_000),
    parameters: inputSchema as AgentTool["parameters"],
    readOnly: more.readOnly,
    async call(args, { caller, signal }) {
      await checkUsable(more.context, _id, caller);
      const options = { signal, timeout: CALL_MS };
      const answer = await more.client.callTool({ name: tool, arguments: args }, undefined, options).catch((error) => {
        signal.throwIfAborted();
        throw failedPrecondition(`it could not be called: ${failureOf(error, more.redactor)}`);
      });
      const text = shorten(more.redactor.redact(textOf(answer.content)), SHOWN);
      if (answer.isError === true) throw failedPrecondition(text);
      return text;
    },
  };
}

async function checkUsable(context: Context, id: string, caller: Caller): Promise<void> {
  const { enabled } = await readable(context, "MCP server", id, caller);
  if (!enabled) throw failedPrecondition("this MCP server is disabled");
}

/** What a model reads of an answer: its texts; of anything else that it was there. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return "";
  return content
    .map((block: { type?: string; text?: string; resource?: { text?: string } }) =>
      block.type === "text" ? block.text : (block.resource?.text ?? `[${block.type}]`),
    )
    .join("\n");
}
