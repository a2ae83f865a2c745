import { randomBytes } from "node:crypto";
import { Agent } from "undici";

/** What became of a request: an answer, or none. */
export type Heard = Answered | { readonly lost: string };

export interface Answered {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: {
    readonly result?: Readonly<Record<string, unknown>>;
    readonly error?: {
      readonly code: number;
      readonly message: string;
      readonly data?: Readonly<Record<string, string>>;
    };
  };
  readonly text: string;
}

/** What a tool answered. */
export interface Said {
  readonly heard: Heard;
  /** Its result; undefined if there is none. */
  readonly value: Readonly<Record<string, unknown>> | undefined;
  /** Of a write that has none: what the answer says became of it. */
  readonly outcome: "unchanged" | "partly" | "unknown";
  /** The trace that the request began, by which its audit record is found. */
  readonly trace: string;
}

/** How long a client waits, in milliseconds: less than the service may take, as real ones do. */
const PATIENCE_MS = 12_000;
/** Answers that a client with a good key and a good request may get, whatever is broken. */
const ALLOWED = new Set([200, 429, 503]);
/** The same of /rpc, whose statuses are those of Connect: aborted, deadline exceeded. */
const ALLOWED_RPC = new Set([...ALLOWED, 409, 504]);

/** A client with a key of its own; whatever breaks the protocol is told as a problem. */
export class Asker {
  private readonly agent = new Agent({
    pipelining: 1,
    connections: 8,
    headersTimeout: PATIENCE_MS,
    bodyTimeout: PATIENCE_MS,
    connect: { timeout: PATIENCE_MS },
  });
  private id = 0;

  constructor(
    private readonly key: string,
    private readonly problem: (what: string) => void,
    /** Counts answers, by what they were. */
    private readonly count: (what: string) => void = () => undefined,
  ) {}

  /** Calls a tool. */
  async call(door: string, server: string, name: string, args: object = {}): Promise<Said> {
    const trace = randomBytes(16).toString("hex");
    const heard = await this.post(`${door}/mcp/${server}`, "tools/call", { name, arguments: args }, trace);
    if ("lost" in heard) return { heard, value: undefined, outcome: "unknown", trace };
    const { result, error } = heard.body;
    const meta = result?._meta as Record<string, string> | undefined;
    const said =
      meta?.["sallyport/write_outcome"] ?? error?.data?.["sallyport/write_outcome"] ?? error?.data?.write_outcome;
    const outcome = (said ?? (heard.status === 200 ? "unknown" : "unchanged")) as Said["outcome"];
    const value = result?.isError === true ? undefined : (result?.structuredContent as Said["value"]);
    return { heard, value, outcome, trace };
  }

  /** Asks an MCP endpoint, with a good key if nothing else is said. */
  async post(url: string, method: string, params: object = {}, trace?: string, isGood = true): Promise<Heard> {
    const id = ++this.id;
    const body = JSON.stringify({ jsonrpc: "2.0", id, method, params });
    const heard = await this.send(url, body, trace);
    if ("lost" in heard) return heard;
    const at = `${new URL(url).pathname} ${method} ${(params as { name?: string }).name ?? ""}`;
    const wrong = outside(heard, id, isGood);
    if (wrong !== undefined) this.problem(`${at}: ${wrong}: ${heard.status} ${heard.text.slice(0, 300)}`);
    return heard;
  }

  /** Calls an rpc as the console does. */
  async rpc<T>(door: string, path: string, body: object): Promise<T | undefined> {
    const heard = await this.send(`${door}/rpc/${path}`, JSON.stringify(body));
    if ("lost" in heard) return undefined;
    if (!ALLOWED_RPC.has(heard.status)) this.problem(`/rpc/${path}: ${heard.status} ${heard.text.slice(0, 300)}`);
    return heard.status === 200 ? (heard.body as T) : undefined;
  }

  close(): Promise<void> {
    return this.agent.destroy();
  }

  private async send(url: string, body: string, trace?: string): Promise<Heard> {
    const { origin, pathname, search } = new URL(url);
    try {
      const reply = await this.agent.request({
        ...{ origin, path: pathname + search, method: "POST", body },
        headers: {
          authorization: `Bearer ${this.key}`,
          "content-type": "application/json",
          accept: "application/json, text/event-stream",
          ...(trace !== undefined && { traceparent: `00-${trace}-${trace.slice(16)}-00` }),
        },
      });
      const text = await reply.body.text();
      this.count(String(reply.statusCode));
      try {
        return { status: reply.statusCode, headers: reply.headers, body: JSON.parse(text), text };
      } catch {
        this.problem(`${pathname}: no JSON: ${reply.statusCode} ${text.slice(0, 200)}`);
        return { lost: "no JSON" };
      }
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      this.count(`lost: ${code ?? message}`);
      return { lost: code ?? message };
    }
  }
}

/** What of an answer is outside the protocol; undefined if nothing is. */
function outside({ status, headers, body }: Answered, id: number, isGood: boolean): string | undefined {
  if (status === 401) return isGood ? "a good key is called bad" : undefined;
  if (!ALLOWED.has(status)) return "a status that says nothing to a client";
  const { jsonrpc, id: own, result, error } = body as typeof body & { jsonrpc?: string; id?: unknown };
  if (jsonrpc !== "2.0" || (result === undefined) === (error === undefined)) return "no answer of JSON-RPC";
  if (own !== id) return "not the request's id";
  if (status !== 200 && headers["retry-after"] === undefined) return "no Retry-After";
  if (status !== 200 && error?.data?.error === undefined) return "no word in data.error";
  return error?.code === -32603 ? "an internal error" : undefined;
}
