import type { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { checkJson, type JsonBounds } from "../../../shared/isolation/json-bounds.js";
import { serveThread } from "../../../shared/process/thread.js";
import { openSession, type RemoteAddress, type Session } from "./mcp-session.js";
import { plainIssues } from "./plain-issues.js";

// The client of remote MCP servers. What it gives is plain, small and all that is
// known of a server elsewhere.

/** Tools of one server, and pages of its list. */
const MAX_TOOLS = 256;
const MAX_PAGES = 20;
const MAX_NAME = 128;
/** What is left of a description: the end may be that of a secret, so that more is cut off later. */
const MAX_DESCRIPTION = 4_096;
const SCHEMA: JsonBounds = { bytes: 16 * 1024, depth: 32, nodes: 2_000 };
/** Characters of all tools together. */
const MAX_LIST = 512 * 1024;
/** Tools of which it is said why they are left out. */
const MAX_NOTES = 5;
/** Characters of an answer. */
const MAX_TEXT = 128 * 1024;

/** A tool of a remote MCP server, within bounds. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: Readonly<Record<string, unknown>>;
  readonly readOnly: boolean;
  readonly destructive: boolean;
}

/** The tools of a server, and which of them were left out. */
export interface Listed {
  readonly tools: readonly ListedTool[];
  readonly notes: readonly string[];
}

/** What a tool answered. */
export interface Answered {
  readonly text: string;
  readonly isError: boolean;
}

/** Said where a call is of a session that this thread does not have. */
export const NO_SESSION = "NoSessionError";

const sessions = new Map<string, Session>();

const methods = {
  /** Connects and reads the tools. @returns Listed. */
  async connect(asked: string): Promise<string> {
    const { session: id, ...address } = JSON.parse(asked) as RemoteAddress & { session: string };
    const session = await openSession(address);
    try {
      const listed = await session.use(listTools);
      sessions.set(id, session);
      return JSON.stringify(listed);
    } catch (error) {
      await session.close();
      throw error;
    }
  },

  /** Calls a tool. @returns Answered. */
  async call(asked: string, signal: AbortSignal): Promise<string> {
    const { session, ...params } = JSON.parse(asked) as {
      session: string;
      name: string;
      arguments: Record<string, unknown>;
    };
    const found = sessions.get(session);
    if (found === undefined) throw Object.assign(new Error("this session has ended"), { name: NO_SESSION });
    const answer = await found.use((client, timeout) => client.callTool(params, undefined, { signal, timeout }));
    const isError = answer.isError === true;
    const text = textOf(answer.content);
    return JSON.stringify({ text: isError ? plainIssues(text) : text, isError } satisfies Answered);
  },

  /** Closes a connection. */
  async close(session: string): Promise<string> {
    await sessions.get(session)?.close();
    sessions.delete(session);
    return "";
  },
};

/** What the thread answers to. */
export type McpMethods = typeof methods;

async function listTools(client: Client, timeout: number): Promise<Listed> {
  const tools = new Map<string, ListedTool>();
  const notes: string[] = [];
  let [cursor, characters]: [string | undefined, number] = [undefined, 0];
  for (let page = 0; page < MAX_PAGES; page++) {
    const listed = await client.listTools(cursor === undefined ? {} : { cursor }, { timeout });
    for (const { name, description = "", inputSchema, annotations = {} } of listed.tools) {
      const { readOnlyHint: readOnly = false, destructiveHint: destructive = !readOnly } = annotations;
      const schema = JSON.stringify(inputSchema);
      characters += name.length + Math.min(description.length, MAX_DESCRIPTION) + schema.length;
      const problem = tools.has(name)
        ? "another tool has the same name"
        : (problemOf(name, schema) ??
          (tools.size >= MAX_TOOLS || characters > MAX_LIST ? "the server lists too many tools before it" : undefined));
      if (problem === undefined)
        tools.set(name, {
          ...{ name, inputSchema, readOnly, destructive },
          description: description.slice(0, MAX_DESCRIPTION),
        });
      else if (notes.length < MAX_NOTES) notes.push(`its tool ${name.slice(0, 60)} is not used: ${problem}`);
    }
    cursor = listed.nextCursor;
    if (cursor === undefined) break;
  }
  return { tools: [...tools.values()], notes };
}

function problemOf(name: string, schema: string): string | undefined {
  if (name === "" || name.length > MAX_NAME) return `its name must have 1 to ${MAX_NAME} characters`;
  try {
    checkJson(schema, SCHEMA);
    return undefined;
  } catch (error) {
    return `its input schema is not valid: ${(error as Error).message}`;
  }
}

/** What a model reads of an answer: its texts; of anything else that it was there. */
function textOf(content: unknown): string {
  if (!Array.isArray(content)) return "";
  let text = "";
  for (const block of content as { type?: string; text?: string; resource?: { text?: string } }[]) {
    const said = block.type === "text" ? block.text : (block.resource?.text ?? `[${block.type}]`);
    text += `${text === "" ? "" : "\n"}${said}`;
    if (text.length > MAX_TEXT) break;
  }
  return text.slice(0, MAX_TEXT);
}

serveThread(methods, "at once");
