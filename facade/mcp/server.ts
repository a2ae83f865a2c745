import { Code, ConnectError } from "@connectrpc/connect";
import type { Known } from "../../services/shared/credentials/known.js";
import type { Ended } from "../../services/shared/credentials/open-responses.js";
import { scopeRefusal } from "../admission/refusals.js";
import type { ListOptions } from "../catalogue/endpoint-query.js";
import type { Endpoint } from "../catalogue/endpoints.js";
import type { ServedTool } from "../catalogue/served-tool.js";
import type { McpServer } from "../catalogue/servers.js";
import type { View } from "../catalogue/tools-list.js";
import type { Exchange, HeaderList } from "../http/exchange.js";
import { INVALID_PARAMS, isObject, isRequestId, RpcError } from "./json-rpc.js";
import { type CallTool, CredentialError, type ToolResult } from "./tool-call.js";

/** A request that has passed every refusal of HTTP. */
export interface Admitted {
  readonly exchange: Exchange;
  readonly endpoint: Endpoint;
  readonly server: McpServer;
  readonly known: Known;
  /** What the query of the URL asks for. */
  readonly options: ListOptions;
  /** What a JSON answer carries. */
  readonly headers: HeaderList;
  /** When its headers were here, by performance.now(). */
  readonly startedAt: number;
}

/** What both eras need of the façade. */
export interface McpContext {
  readonly callTool: CallTool;
  /**
   * What a call comes to of a tool that the caller's view leaves out: the
   * members of a result that says why, or the tool itself where nothing stands
   * in its way any more.
   *
   * @throws RpcError -32602, the same for every name that the server has no tool of;
   * 429 and 503 like a call; CredentialError.
   */
  callAbsent(admitted: Admitted, name: string): Promise<ServedTool | ToolResult>;
  /** What the caller sees of the server. @throws ConnectError */
  view(admitted: Admitted): View | Promise<View>;
  /** Whether the key that somebody came with was revoked since. */
  isRevoked(known: Known): boolean;
  /** Notes that a client connected. @param info what it says of itself (clientInfo), as it came. */
  connected(known: Known, info: unknown): void;
  /** Answers a request whose credential was revoked or could not be vouched for while it ran. */
  refuse(admitted: Admitted, refused: Ended, id: string | number): void;
}

/** How long a client waits that was told of a catalogue which does not answer, in seconds. */
const RETRY_S = "2";

/**
 * Waits for a caller's view.
 *
 * @throws RpcError 503, where the catalogue cannot say what it is; CredentialError, where nobody vouches for the caller.
 */
export async function viewOnceKnown(
  view: View | Promise<View>,
  { known }: Admitted,
  { isRevoked }: Pick<McpContext, "isRevoked">,
): Promise<View> {
  try {
    return await view;
  } catch (error) {
    throw catalogueFailure(error, known, isRevoked);
  }
}

/** What a request comes to that the catalogue did not answer. */
export function catalogueFailure(
  error: unknown,
  known: Known,
  isRevoked: McpContext["isRevoked"],
): RpcError | CredentialError {
  if (ConnectError.from(error).code === Code.Unauthenticated) {
    return new CredentialError(isRevoked(known) ? "revoked" : "unavailable");
  }
  const message = "The list of tools cannot be read at the moment: try again in a few seconds.";
  return new RpcError(503, message, 503, { error: "unavailable" }, ["retry-after", RETRY_S]);
}

/**
 * What the caller's model is told before it uses the server, as JSON text. A
 * catalogue that cannot say which tools there are keeps nobody from connecting.
 *
 * @throws CredentialError, where nobody vouches for the caller.
 */
export async function instructionsFor(admitted: Admitted, context: McpContext): Promise<string> {
  try {
    return (await viewOnceKnown(context.view(admitted), admitted, context)).instructions();
  } catch (error) {
    if (error instanceof RpcError) return JSON.stringify(error.message);
    throw error;
  }
}

/** What a stream or a batch is told whose credential ended, for which it is too late for a status. */
export function saidOf({ refused }: CredentialError): string {
  return refused === "revoked"
    ? "The credential was revoked: create a new API key, or sign in again"
    : "The service that checks API keys does not answer at the moment: try again in a few seconds";
}

/** Checks that the caller's token was given the scope of a tool. @throws RpcError 403 insufficient_scope, in both eras. */
export function checkScope({ tool }: ServedTool, { endpoint, known }: Admitted): void {
  const { scopes } = known.caller;
  if (scopes.has(tool.scope)) return;
  const held = endpoint.scopes.filter((scope) => scopes.has(scope));
  const { message, word, headers } = scopeRefusal(endpoint.challenge, [...held, tool.scope]);
  throw new RpcError(403, message, 403, { error: word }, headers);
}

/** A list is one page, so there is no cursor to go on from. @throws RpcError -32602 */
export function checkCursor(params: unknown): void {
  if (!isObject(params) || params.cursor === undefined) return;
  throw new RpcError(INVALID_PARAMS, "Invalid params: unknown cursor; the list has one page, so omit it");
}

/** The parameters of tools/call. @throws RpcError -32602 */
export function callParamsOf(params: unknown): { readonly name: string; readonly args: Record<string, unknown> } {
  if (!isObject(params) || typeof params.name !== "string") {
    throw new RpcError(INVALID_PARAMS, "Invalid params: name must be the name of a tool");
  }
  const { name, arguments: args = {} } = params;
  if (!isObject(args)) throw new RpcError(INVALID_PARAMS, "Invalid params: arguments must be an object");
  return { name, args };
}

/** The token by which a client recognises progress; undefined where it asks for none. */
export function progressTokenOf(params: unknown): string | number | undefined {
  const meta = isObject(params) && isObject(params._meta) ? params._meta : {};
  const { progressToken: token } = meta;
  return isRequestId(token) || typeof token === "number" ? token : undefined;
}

const TRACEPARENT = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** The W3C trace context of a request: that of `_meta` before that of the header; a bad one is ignored. */
export function traceparentOf(params: unknown, header: string | undefined): string | undefined {
  const meta = isObject(params) && isObject(params._meta) ? params._meta.traceparent : undefined;
  const given = typeof meta === "string" ? meta : header;
  return given !== undefined && TRACEPARENT.test(given) ? given : undefined;
}
