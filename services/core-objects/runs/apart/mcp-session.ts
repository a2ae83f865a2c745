import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport, StreamableHTTPError } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import type { JsonSchemaValidator } from "@modelcontextprotocol/sdk/validation/types.js";
import { createBoundedFetch, dispatcherOf, plainError } from "../../../shared/isolation/apart/bounded-fetch.js";
import type { JsonBounds } from "../../../shared/isolation/json-bounds.js";
import { MisbehavedError } from "../../../shared/isolation/misbehaved.js";
import type { OutgoingPolicy } from "../../../shared/outgoing/policy.js";
import { VERSION } from "../../../shared/process/version.js";
import { plainIssues } from "./plain-issues.js";
import { Unanswered, unansweredIn } from "./unanswered.js";
import { isUnclear, marked } from "./unclear.js";

/** Bounds of one answer, or of one stream of answers. */
const ANSWER: JsonBounds = { bytes: 8 * 2 ** 20, depth: 64, nodes: 100_000 };
/** Messages that a session takes, requests that it makes, and how many of those at once. */
const MAX_MESSAGES = 5_000;
const MAX_REQUESTS = 1_000;
const MAX_AT_ONCE = 16;
/** The SDK's own limit is never the one that is reached. */
const NEVER_MS = 600_000;
/** Answers that lead elsewhere (RFC 9110, section 15.4). Where to is the server's to say, and not for us to repeat. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
const REDIRECTED =
  "it redirects to another address, and the service does not follow redirects: ask its operator for the other URL, and set that with update_mcp_server";
/** Codes of errors that the SDK makes: the connection was closed, or the time is over. */
const OF_THE_SDK: ReadonlySet<number> = new Set([ErrorCode.ConnectionClosed, ErrorCode.RequestTimeout]);
/** How long a server may take to begin, in milliseconds. */
const BEGIN_MS = 5_000;

/** Where a remote MCP server is, and what it is sent. */
export interface RemoteAddress {
  readonly url: string;
  readonly transport: "streamable_http" | "sse";
  readonly headers: Readonly<Record<string, string>>;
  readonly policy: OutgoingPolicy;
}

/** An MCP client with its bounds. */
export interface Session {
  /** What is asked by it; ends with the session, and when a bound is passed. */
  use<T>(asked: (client: Client, timeout: number) => Promise<T>): Promise<T>;
  close(): Promise<void>;
}

/** Output schemas are nobody's here: nothing of them is compiled, and no answer is matched with them. */
const NO_VALIDATION = {
  getValidator:
    <T>(): JsonSchemaValidator<T> =>
    (input) => ({ valid: true, data: input as T, errorMessage: undefined }),
};

/**
 * Opens a connection as an MCP client.
 *
 * @throws MisbehavedError where the server passes a bound; Error that says why it cannot be used.
 */
export async function openSession({ url, transport, headers, policy }: RemoteAddress): Promise<Session> {
  const client = new Client({ name: "sallyport", version: VERSION }, { jsonSchemaValidator: NO_VALIDATION });
  const broken = breakable();
  // Nobody may be waiting when it breaks.
  broken.promise.catch(() => undefined);
  const bounded = createBoundedFetch(dispatcherOf(policy), ANSWER, broken.reject);
  const unanswered = new Unanswered();
  const fetch = unanswered.watching(boundedRequests(bounded, transport, broken.reject));
  const options = { requestInit: { headers }, fetch: fetch as never };
  const address = new URL(url);
  const way = (
    transport === "sse" ? new SSEClientTransport(address, options) : new StreamableHTTPClientTransport(address, options)
  ) as Transport;
  // Of the older transport, answers come on a stream of their own, whose end is the end of none of them.
  const isStreamable = transport === "streamable_http";
  if (isStreamable) unanswered.watchRequests(way);
  const close = async (): Promise<void> => client.close().catch(() => undefined);
  const use = async <T>(asked: (client: Client, timeout: number) => Promise<T>): Promise<T> => {
    try {
      return await Promise.race([asked(client, NEVER_MS), broken.promise]);
    } catch (error) {
      const plain = unansweredIn(error) ?? plainError(withPlainIssues(error));
      throw marked(plain, !isRefusal(error) && isUnclear(error));
    }
  };
  const late = setTimeout(
    () => broken.reject(new MisbehavedError(`it did not answer within ${BEGIN_MS / 1_000} seconds`, "slow")),
    BEGIN_MS,
  );
  try {
    await use((one, timeout) => {
      const connected = one.connect(way, { timeout });
      if (isStreamable) unanswered.watchAnswers(way);
      boundMessages(way, broken.reject);
      return connected;
    });
    return { use, close };
  } catch (error) {
    await close();
    throw error;
  } finally {
    clearTimeout(late);
  }
}

/** Whether a server has refused a request, by an error of JSON-RPC or by a status that says it (RFC 9110, section 15.5). */
function isRefusal(error: unknown): boolean {
  if (error instanceof McpError) return !OF_THE_SDK.has(error.code);
  return error instanceof StreamableHTTPError && error.code !== undefined && error.code >= 400 && error.code < 500;
}

/** Before anything is cut off: what is left of a list of issues is no list. */
function withPlainIssues(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof MisbehavedError) return error;
  const message = plainIssues(error.message);
  return message === error.message ? error : new Error(message);
}

/** Counts what a server says before the client reads it: each ping would be answered, and each change looked at. */
function boundMessages(way: Transport, failed: (error: MisbehavedError) => void): void {
  const read = way.onmessage;
  let count = 0;
  way.onmessage = (message, extra) => {
    if (++count <= MAX_MESSAGES) return read?.(message, extra);
    if (count > MAX_MESSAGES + 1) return;
    failed(new MisbehavedError(`it sent more than ${MAX_MESSAGES} messages`));
    void way.close();
  };
}

/** Counts what a server has the client send, such as answers to pings and streams that it wants opened again. */
function boundedRequests(
  send: typeof globalThis.fetch,
  transport: RemoteAddress["transport"],
  failed: (error: MisbehavedError) => void,
): typeof globalThis.fetch {
  let [count, atOnce] = [0, 0];
  return async (input, init) => {
    const isGet = (init?.method ?? "GET") === "GET";
    // A stream for what the server says by itself is of no use here: the protocol lets a side do without one.
    if (isGet && transport === "streamable_http" && !new Headers(init?.headers).has("last-event-id"))
      return new Response(null, { status: 405 });
    count += isGet ? MAX_REQUESTS / 20 : 1;
    if (count > MAX_REQUESTS || atOnce >= MAX_AT_ONCE) {
      const error = new MisbehavedError("it makes the client send too many requests");
      failed(error);
      throw error;
    }
    atOnce++;
    try {
      const answer = await send(input, init);
      if (!REDIRECTS.has(answer.status)) return answer;
      await answer.body?.cancel();
      throw new Error(REDIRECTED);
    } finally {
      atOnce--;
    }
  };
}

function breakable(): { readonly promise: Promise<never>; readonly reject: (error: Error) => void } {
  let reject: (error: Error) => void = () => undefined;
  const promise = new Promise<never>((_resolve, no) => {
    reject = no;
  });
  return { promise, reject };
}
