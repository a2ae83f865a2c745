import { randomUUID } from "node:crypto";
import type { Patience } from "../../../shared/isolation/isolation.js";
import { KilledError, MisbehavedError } from "../../../shared/isolation/misbehaved.js";
import type { Caller } from "../../../shared/rpc/call.js";
import { failedPrecondition } from "../../../shared/rpc/errors.js";
import { restoreHidden, showHidden } from "../../../shared/tools/codec/hidden-characters.js";
import { shorten } from "../../../shared/tools/shorten.js";
import type { Context } from "../../context.js";
import { pinOf, type ToolPin } from "../../kinds/mcp-servers/pins.js";
import type { McpServerRecord } from "../../kinds/mcp-servers/record.js";
import { readable } from "../../objects/gate.js";
import { leaveOut, leftOut } from "../../objects/left-out.js";
import type { Answered, Listed, ListedTool, McpMethods, NO_SESSION } from "../apart/mcp.js";
import { failureOf, MCP_SERVERS, mayBeDone, UNSURE } from "../outgoing.js";
import { mapTexts, type Redactor, shown } from "../redact.js";
import { headersOf } from "../secrets.js";
import { type AgentTool, functionName } from "./agent-tool.js";

/** How long a server may take until its tools are read, and for a call, in milliseconds. */
const LIST_MS = 10_000;
const CALL_MS = 120_000;
/** How long it may take to end a connection: nobody waits for it. */
const CLOSE_MS = 5_000;
/** Characters of a description, and of an answer. */
const MAX_DESCRIPTION = 2_000;
const SHOWN = 40 * 1024;
const LOST: typeof NO_SESSION = "NoSessionError";

/** What remote servers are reached with. */
export interface RemoteParts {
  readonly context: Context;
  readonly redactor: Redactor;
}

/** A connected remote MCP server. */
export interface Remote {
  readonly id: string;
  /** What was left out of its list, in words for the model. */
  readonly notes: readonly string[];
  /**
   * Its tools, and how they are pinned. One that may destroy, by its annotations and the protocol's
   * defaults, is left out unless it is named as mcp/TOOL.
   *
   * @param taken names of functions, to which theirs are added.
   */
  offer(
    named: ReadonlySet<string>,
    taken: Set<string>,
  ): { readonly tools: readonly AgentTool[]; readonly pins: readonly ToolPin[] };
  close(): Promise<void>;
}

/** How a run connects to a remote MCP server. */
export interface Connecting {
  /** Ends the connecting. */
  readonly signal: AbortSignal;
  /** Those of the listed tools that the run may use, each of which can be pinned, and what is said of the others. */
  choose(
    listed: readonly ListedTool[],
  ): Promise<{ readonly tools: readonly ListedTool[]; readonly notes: readonly string[] }>;
}

/**
 * Connects to a remote MCP server and reads its tools.
 *
 * @throws Error that says why it cannot be used, without what is secret. One that misbehaves is left out from then on.
 */
export async function connectRemote(
  record: McpServerRecord,
  { signal, choose }: Connecting,
  parts: RemoteParts,
): Promise<Remote> {
  const why = leftOut(record);
  if (why !== undefined) throw new Error(`${why}; to try it again, call test_mcp_server`);
  const connection = new Connection(record, parts);
  const listed = await connection.open(signal);
  const chosen = await choose(listed.tools).catch(async (error) => {
    await connection.close();
    throw error;
  });
  return {
    id: record._id,
    notes: shown([...listed.notes, ...chosen.notes], parts.redactor),
    offer(named, taken) {
      const usable = chosen.tools.filter(({ name, destructive }) => !destructive || named.has(`mcp/${name}`));
      const tools = usable.map((tool) => {
        const name = functionName(`mcp__${record.name}__${parts.redactor.redact(tool.name)}`, taken);
        taken.add(name);
        return remoteTool(record, tool, { ...parts, name, connection });
      });
      return { tools, pins: usable.flatMap((tool) => pinOf(tool) ?? []) };
    },
    close: () => connection.close(),
  };
}

/** The tools of a remote MCP server, also of one that is left out. @throws as connectRemote. */
export async function listRemote(
  record: McpServerRecord,
  signal: AbortSignal,
  parts: RemoteParts,
): Promise<readonly ListedTool[]> {
  const connection = new Connection(record, parts);
  try {
    return (await connection.open(signal)).tools;
  } finally {
    await connection.close();
  }
}

/** A connection in the server's thread, which is opened again where the thread ended meanwhile. */
class Connection {
  #session = "";
  #release: () => void = () => undefined;

  constructor(
    private readonly record: McpServerRecord,
    private readonly parts: RemoteParts,
  ) {}

  async open(signal: AbortSignal): Promise<Listed> {
    const { context, redactor } = this.parts;
    const session = randomUUID();
    const { url, transport } = this.record;
    const headers = headersOf(context, this.record, redactor);
    const asked = { session, url, transport, headers, policy: context.outgoing };
    const listed = await this.#ask("connect", JSON.stringify(asked), { ms: LIST_MS, signal, isRepeatable: true });
    this.#session = session;
    this.#release();
    this.#release = context.isolation.keep(MCP_SERVERS, this.#remote);
    return JSON.parse(listed) as Listed;
  }

  async call(name: string, args: object, signal: AbortSignal): Promise<Answered> {
    const asked = (): string => JSON.stringify({ session: this.#session, name, arguments: args });
    const patience = { ms: CALL_MS, signal };
    try {
      return JSON.parse(await this.#ask("call", asked(), patience)) as Answered;
    } catch (error) {
      // Nothing was sent yet.
      if ((error as Error).name !== LOST) throw error;
      await this.open(signal);
      return JSON.parse(await this.#ask("call", asked(), patience)) as Answered;
    }
  }

  async close(): Promise<void> {
    if (this.#session === "") return;
    const patience = { ms: CLOSE_MS, signal: new AbortController().signal };
    await this.#ask("close", this.#session, patience).catch(() => undefined);
    this.#session = "";
    this.#release();
  }

  get #remote(): { readonly id: string; readonly owner: string } {
    return { id: this.record._id, owner: this.record.owner };
  }

  /** @throws Error without what is secret. A server that misbehaves is left out from then on. */
  async #ask(method: keyof McpMethods, asked: string, patience: Patience): Promise<string> {
    const { context, redactor } = this.parts;
    try {
      return (await context.isolation.call(MCP_SERVERS, this.#remote, method, asked, patience)) as string;
    } catch (error) {
      patience.signal.throwIfAborted();
      const why = failureOf(error, redactor);
      if (error instanceof KilledError) throw error;
      if (!(error instanceof MisbehavedError)) throw Object.assign(new Error(why), { name: (error as Error).name });
      if (method !== "close") await leaveOut(context, "MCP server", this.record._id, error, why);
      throw new MisbehavedError(why, error.misbehaviour);
    }
  }
}

function remoteTool(
  { _id, name: server }: McpServerRecord,
  tool: ListedTool,
  more: RemoteParts & { readonly name: string; readonly connection: Connection },
): AgentTool {
  const { context, redactor, connection } = more;
  const label = shown(tool.name, redactor);
  const description = tool.description === "" ? label : showHidden(redactor.redactBeginning(tool.description));
  return {
    name: more.name,
    label: `${server}/${label}`,
    description: shorten(description, MAX_DESCRIPTION),
    parameters: shown(tool.inputSchema, redactor),
    known: `mcp/${label}`,
    target: `${_id} ${tool.name}`,
    readsOutside: true,
    // Whoever accepted the tool accepted what it says of itself.
    writesOutside: !tool.readOnly,
    // What it says of itself is no reason to send a call again of which it is not known how it went.
    readOnly: false,
    async call(args, { caller, signal }) {
      await checkUsable(context, _id, caller);
      // What the model copies of a schema is what the schema says.
      const sent = mapTexts(args, restoreHidden) as object;
      const answer = await connection.call(tool.name, sent, signal).catch((error: Error) => {
        signal.throwIfAborted();
        if (mayBeDone(error)) throw failedPrecondition(`${error.message}: ${UNSURE}`);
        if (!(error instanceof MisbehavedError)) throw failedPrecondition(`it could not be called: ${error.message}`);
        throw failedPrecondition(`${error.message}: ${UNSURE}, and the server is not used for a while`);
      });
      const text = shorten(redactor.redactBeginning(answer.text), SHOWN);
      if (answer.isError) throw failedPrecondition(text);
      return text;
    },
  };
}

async function checkUsable(context: Context, id: string, caller: Caller): Promise<void> {
  const found = (await readable(context, "MCP server", id, caller)) as McpServerRecord;
  if (!found.enabled) throw failedPrecondition("this MCP server is disabled");
  const why = leftOut(found);
  if (why !== undefined) throw failedPrecondition(`it was not called: ${why}`);
}
