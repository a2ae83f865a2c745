import type { Socket } from "node:net";
import { NotHttp } from "./http/head.js";
import { type Answer, Reader, TooLarge } from "./http/reader.js";
import { headOfRequest, type Post, requestOf, type Target } from "./http/request.js";
import { ConnectTimeout, openSocket } from "./http/socket.js";

/** Why there is no answer. */
export interface Broken {
  /** A stable word, such as timeout or econnrefused. */
  readonly broken: string;
  readonly detail: string;
}

/** Bytes that are read at once. Memory that no answer fills is not used. */
const READ_BYTES = 64 * 1_024;
/** A server may close a connection that was idle for longer just when it is used: that is no failure of the server. */
const IDLE_MS = 1_000;
const CLOSED_BY_SERVER: Broken = {
  broken: "closed_by_server",
  detail: "the server closed the connection before the end of its answer",
};
const CLOSED = new Set([CLOSED_BY_SERVER.broken, "econnreset", "epipe"]);

/** A request that has no answer yet. */
interface Exchange {
  readonly request: string | Buffer;
  readonly done: (answer: Answer | Broken) => void;
  /** Whether it is sent again if the server closes the connection. */
  mayRepeat: boolean;
}

/** One connection, on which one request at a time is under way. It opens with its first request, and again if it breaks. */
export class Connection {
  /** How often it was opened. */
  opened = 0;
  private readonly heads = new Map<Post["headers"], string>();
  private session: string | undefined;
  private tlsSession: Buffer | undefined;
  private socket: Socket | undefined;
  private isOpen = false;
  private current: Exchange | undefined;
  private idleSince = 0;
  private readonly memory = Buffer.allocUnsafeSlow(READ_BYTES);

  constructor(private readonly target: Target) {}

  /** The session that the server began on this connection; later requests of its era are sent with it. */
  set sessionId(session: string | undefined) {
    this.session = session;
    this.heads.clear();
  }

  /** Sends a request and calls `done` once: with the whole answer, or with why there is none. */
  send({ headers, body }: Post, done: (answer: Answer | Broken) => void): void {
    let request: string | Buffer;
    try {
      request = requestOf(this.headOf(headers), body);
    } catch (error) {
      const { message: detail } = error as Error;
      process.nextTick(done, { broken: "invalid_header", detail });
      return;
    }
    const mayRepeat = this.opened > 0 && performance.now() - this.idleSince > IDLE_MS;
    this.start({ request, done, mayRepeat });
  }

  /** Breaks off the request that is under way, for this reason. */
  giveUp(broken: string, detail: string): void {
    if (this.current === undefined) return;
    // One that opens has sent nothing, and the next request can have it.
    if (this.isOpen) this.drop();
    this.finish({ broken, detail });
  }

  /** Closes it; a request under way is broken off. */
  close(): void {
    this.giveUp("closed", "the run ended before the answer came");
    this.drop();
  }

  private start(exchange: Exchange): void {
    this.current = exchange;
    if (this.socket === undefined) this.open();
    else if (this.isOpen) this.write(this.socket);
  }

  private open(): void {
    const { url, headers } = this.target;
    const reader = new Reader();
    const isCurrent = (): boolean => this.socket === socket;
    const socket: Socket = openSocket(
      { url, name: headers.host ?? url.host, session: this.tlsSession, memory: this.memory },
      {
        open: () => {
          if (!isCurrent()) return;
          this.opened++;
          this.isOpen = true;
          this.write(socket);
        },
        came: (bytes) => {
          if (isCurrent()) this.came(reader, bytes);
        },
        closed: (error) => {
          if (!isCurrent()) return;
          const wasOpen = this.isOpen;
          this.drop();
          const last = error === undefined && wasOpen ? reader.end() : undefined;
          if (last !== undefined) this.finish(last);
          else this.fail(error === undefined ? CLOSED_BY_SERVER : brokenOf(error));
        },
        session: (session) => {
          this.tlsSession = session;
        },
      },
    );
    this.socket = socket;
  }

  private write(socket: Socket): void {
    if (this.current !== undefined) socket.write(this.current.request, "latin1");
  }

  private came(reader: Reader, bytes: Buffer): void {
    let answer: Answer | Broken | undefined;
    try {
      // Bytes that nobody asked for answer nothing, and would be taken for the next answer.
      if (this.current === undefined) this.drop();
      else answer = reader.read(bytes);
    } catch (error) {
      answer = brokenOf(error as Error);
    }
    if (answer === undefined) return;
    if ("broken" in answer || !reader.isKept) this.drop();
    this.finish(answer);
  }

  private drop(): void {
    const { socket } = this;
    this.socket = undefined;
    this.isOpen = false;
    socket?.destroy();
  }

  private fail(why: Broken): void {
    const { current } = this;
    if (current === undefined) return;
    if (current.mayRepeat && CLOSED.has(why.broken)) {
      current.mayRepeat = false;
      this.start(current);
    } else this.finish(why);
  }

  private finish(answer: Answer | Broken): void {
    const { current } = this;
    this.current = undefined;
    this.idleSince = performance.now();
    current?.done(answer);
  }

  private headOf(headers: Post["headers"]): string {
    const known = this.heads.get(headers);
    if (known !== undefined) return known;
    const session = headers["mcp-protocol-version"] === "2026-07-28" ? undefined : this.session;
    const made = headOfRequest(this.target, {
      ...headers,
      ...(session !== undefined && { "mcp-session-id": session }),
    });
    this.heads.set(headers, made);
    return made;
  }
}

function brokenOf(error: NodeJS.ErrnoException): Broken {
  const broken = wordOf(error);
  return { broken, detail: error.message || broken };
}

function wordOf(error: NodeJS.ErrnoException): string {
  if (error instanceof NotHttp) return "not_http";
  if (error instanceof TooLarge) return "too_large";
  if (error instanceof ConnectTimeout) return "connect_timeout";
  return (error.code ?? "broken").toLowerCase();
}
