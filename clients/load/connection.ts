import type { IncomingHttpHeaders } from "node:http";
import { Client, type Dispatcher } from "undici";

/** A whole answer. */
export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** Why there is no answer. */
export interface Broken {
  /** A stable word, such as timeout or econnrefused. */
  readonly broken: string;
  readonly detail: string;
}

/** A POST that is sent. */
export interface Post {
  /** In lower case. The same object for all requests of one kind: what is sent is made of it once. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Where requests go, and with which headers; in lower case. */
export interface Target {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

/** The largest answer that is read, in bytes. */
export const MAX_BYTES = 32 * 1_024 * 1_024;
/** A server may close a connection that was idle for longer just when it is used: that is no failure of the server. */
const IDLE_MS = 1_000;
/** An idle connection stays open for as long as the server keeps it, in milliseconds. */
const KEPT_MS = 3_600_000;
/** The words for undici's codes; those of the system are used as they are. */
const WORDS: Readonly<Record<string, string>> = {
  und_err_socket: "closed_by_server",
  und_err_connect_timeout: "connect_timeout",
};
const CLOSED = new Set(["closed_by_server", "econnreset", "epipe"]);

/** One connection, on which one request at a time is under way. It opens with its first request, and again if it breaks. */
export class Connection {
  /** How often it was opened. */
  opened = 0;
  private readonly client: Client;
  private readonly path: string;
  private readonly sent = new Map<Post["headers"], readonly string[]>();
  private session: string | undefined;
  private current: Exchange | undefined;
  private idleSince = 0;

  constructor(private readonly target: Target) {
    const { origin, pathname, search } = target.url;
    this.path = `${pathname}${search}`;
    this.client = new Client(origin, {
      pipelining: 1,
      keepAliveTimeout: KEPT_MS,
      keepAliveMaxTimeout: KEPT_MS,
      // The time limit of a request counts from when it is due, which only the caller knows.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    this.client.on("connect", () => this.opened++);
  }

  /** The session that the server began on this connection; later requests of its era are sent with it. */
  set sessionId(session: string | undefined) {
    this.session = session;
    this.sent.clear();
  }

  /** Sends a request and calls `done` once: with the whole answer, or with why there is none. */
  send(post: Post, done: (answer: Answer | Broken) => void): void {
    const wasIdle = this.opened > 0 && performance.now() - this.idleSince > IDLE_MS;
    const finish = (answer: Answer | Broken): void => {
      this.current = undefined;
      this.idleSince = performance.now();
      done(answer);
    };
    this.attempt(post, (answer) => {
      const mayRepeat = wasIdle && "broken" in answer && CLOSED.has(answer.broken);
      if (mayRepeat) this.attempt(post, finish);
      else finish(answer);
    });
  }

  /** Breaks off the request that is under way, for this reason. */
  giveUp(broken: string, detail: string): void {
    this.current?.end({ broken, detail });
  }

  /** Closes it; a request under way is broken off. */
  close(): void {
    this.giveUp("closed", "the run ended before the answer came");
    // It has no request, so nothing is left to fail.
    this.client.destroy().catch(() => undefined);
  }

  private attempt(post: Post, done: (answer: Answer | Broken) => void): void {
    this.current = new Exchange(done);
    const { path } = this;
    this.client.dispatch({ method: "POST", path, headers: this.headersOf(post), body: post.body }, this.current);
  }

  private headersOf({ headers }: Post): string[] {
    const known = this.sent.get(headers);
    if (known !== undefined) return known as string[];
    const hasSession = this.session !== undefined && headers["mcp-protocol-version"] !== "2026-07-28";
    const made = Object.entries({
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
      ...(hasSession && { "mcp-session-id": this.session }),
      ...this.target.headers,
    }).flat() as string[];
    this.sent.set(headers, made);
    return made;
  }
}

/** One request and its answer, as undici reports them. */
class Exchange implements Dispatcher.DispatchHandler {
  private controller: Dispatcher.DispatchController | undefined;
  private isDone = false;
  private status = 0;
  private headers: IncomingHttpHeaders = {};
  private readonly chunks: Buffer[] = [];
  private bytes = 0;

  constructor(private readonly done: (answer: Answer | Broken) => void) {}

  /** Ends it for a reason of ours. */
  end(why: Broken): void {
    this.finish(why);
    this.controller?.abort(new Error(why.detail));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.controller = controller;
    // It was ended while the connection opened.
    if (this.isDone) controller.abort(new Error("ended"));
  }

  onResponseStart(_: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    this.status = status;
    this.headers = headers;
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Buffer): void {
    this.bytes += chunk.length;
    this.chunks.push(chunk);
    if (this.bytes > MAX_BYTES) this.end({ broken: "too_large", detail: `the answer exceeds ${MAX_BYTES} bytes` });
  }

  onResponseEnd(): void {
    const [first] = this.chunks;
    const body = this.chunks.length === 1 && first !== undefined ? first : Buffer.concat(this.chunks);
    this.finish({ status: this.status, headers: this.headers, body });
  }

  onResponseError(_: Dispatcher.DispatchController, error: NodeJS.ErrnoException): void {
    const code = (error.code ?? "broken").toLowerCase();
    this.finish({ broken: WORDS[code] ?? code, detail: error.message || code });
  }

  private finish(answer: Answer | Broken): void {
    if (this.isDone) return;
    this.isDone = true;
    this.done(answer);
  }
}
