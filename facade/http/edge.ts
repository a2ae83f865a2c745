// The edge: the only file that knows of µWebSockets.js.

import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from "uWebSockets.js";
import { BODY_MS } from "./body-reader.js";
import { type Exchange, type HeaderList, statusLine } from "./exchange.js";
import { faultOfFraming, faultOfRepeated } from "./framing.js";
import { LateTurns } from "./late-turns.js";
import { Receiving, type TakePiece } from "./receiving.js";

/** Longest header block that is accepted, in bytes. µWS reads it once, when it loads. */
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= "16384";
const { default: uws } = await import("uWebSockets.js");
/** Leaves out the header that names the server: Loop::setSilent of µWebSockets, which the package's types do not export. */
(uws as unknown as { _cfg(word: "silent"): void })._cfg("silent");

/** LIBUS_LISTEN_EXCLUSIVE_PORT of µSockets, which the package's types do not export. */
const EXCLUSIVE_PORT = 1;

/**
 * Sockets that listen, between which the kernel divides who comes: µSockets lets
 * 512 wait at each, and who finds no place there comes again after a second.
 */
const LISTENERS = 4;

/** Connections at once, each of which costs a file descriptor. */
const MAX_CONNECTIONS = 16_384;

/** A listening HTTP server. */
export interface Edge {
  readonly port: number;
  /** Requests that are not answered yet. */
  inFlight(): number;
  /** Takes no new connections; every answer from now on closes its connection. */
  stopListening(): void;
  /** Cuts every connection. */
  close(): void;
}

/** Where to listen. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Fail where another process listens on the port, instead of sharing it. */
  readonly exclusive: boolean;
  /** Connections at once; one more is closed as it comes. */
  readonly maxConnections?: number | undefined;
  /** How long a body may take from its first piece on, in milliseconds. */
  readonly bodyMs?: number | undefined;
}

/** Shared by the exchanges of one server. */
interface Shared {
  inFlight: number;
  closing: boolean;
  readonly bodyMs: number;
  readonly late: LateTurns;
}

/** Serves until closed. @throws Error where the port cannot be had. */
export async function listen(
  { host, port, exclusive, maxConnections = MAX_CONNECTIONS, bodyMs = BODY_MS }: ListenOptions,
  handle: (exchange: Exchange) => void,
): Promise<Edge> {
  const shared: Shared = { inFlight: 0, closing: false, bodyMs, late: new LateTurns() };
  const app = uws.App();
  let connections = 0;
  // Told of every connection that comes (1) and goes (-1).
  const count = (res: HttpResponse, change: number): void => {
    connections += change;
    if (change === 1 && connections > maxConnections) res.close();
  };
  app.filter(count as Parameters<TemplatedApp["filter"]>[0]);
  app.any("/*", (res, req) => handle(new UwsExchange(res, req, shared)));
  // Whether another has the port is told by who wants it alone: sockets that share it do not mind.
  const first = await open(app, host, port, exclusive);
  const actual = uws.us_socket_local_port(first as never);
  uws.us_listen_socket_close(first);
  const sockets: us_listen_socket[] = [];
  for (let i = 0; i < LISTENERS; i++) sockets.push(await open(app, host, actual, false));
  return edgeOf(app, actual, sockets, shared);
}

function open(app: TemplatedApp, host: string, port: number, exclusive: boolean): Promise<us_listen_socket> {
  return new Promise((resolve, reject) => {
    const onListen = (socket: us_listen_socket | false): void => {
      if (socket !== false) resolve(socket);
      else reject(new Error(`cannot listen on ${host}:${port}: the port is taken`));
    };
    const options = exclusive ? EXCLUSIVE_PORT : 0;
    (app.listen as unknown as (h: string, p: number, o: number, cb: typeof onListen) => void)(
      host,
      port,
      options,
      onListen,
    );
  });
}

function edgeOf(app: TemplatedApp, port: number, sockets: us_listen_socket[], shared: Shared): Edge {
  const stopListening = (): void => {
    shared.closing = true;
    for (const socket of sockets.splice(0)) uws.us_listen_socket_close(socket);
  };
  return {
    port,
    inFlight: () => shared.inFlight,
    stopListening,
    close() {
      stopListening();
      app.close();
    },
  };
}

class UwsExchange extends Receiving implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Record<string, string | undefined> = {};
  malformed: string | undefined;
  gone = false;
  postponed = false;
  /** Asked of the system once: it costs as much as a refusal. */
  private from: string | undefined;
  private goneListeners: (() => void)[] | undefined;
  /** Bytes of an answer in pieces, where they were told beforehand. */
  private length: number | undefined;
  /** What the socket did not take of the last piece, and where in the answer it begins. */
  private rest: { readonly bytes: Uint8Array; readonly at: number } | undefined;

  // `req` is gone once the constructor's caller returns: all of it is taken here.
  constructor(
    private readonly res: HttpResponse,
    req: HttpRequest,
    private readonly shared: Shared,
  ) {
    super(shared.bodyMs);
    this.method = req.getCaseSensitiveMethod();
    this.path = req.getUrl();
    // Undefined where there is none, whatever its type says.
    this.query = req.getQuery() ?? "";
    const { headers } = this;
    req.forEach((name, value) => {
      const before = headers[name];
      if (before === undefined) headers[name] = value;
      else this.repeat(name, before, value);
    });
    this.malformed ??= faultOfFraming(headers);
    shared.inFlight++;
    res.onAborted(() => this.abort());
  }

  private repeat(name: string, before: unknown, value: string): void {
    // A name that every object has is not there yet.
    if (typeof before !== "string") this.headers[name] = value;
    else if (before !== value) this.headers[name] = `${before}${name === "cookie" ? "; " : ", "}${value}`;
    this.malformed ??= faultOfRepeated(name, String(before), value);
  }

  get address(): string {
    if (this.over) return "";
    this.from ??= Buffer.from(this.res.getRemoteAddressAsText()).toString();
    return this.from;
  }

  onGone(listener: () => void) {
    if (this.gone) return listener();
    this.goneListeners ??= [];
    this.goneListeners.push(listener);
  }

  protected onPieces(take: TakePiece): void {
    this.res.onData(take);
  }

  protected tap(isOpen: boolean): void {
    if (isOpen) this.res.resume();
    else this.res.pause();
  }

  postpone(): void {
    this.postponed = true;
  }

  inTurn(run: () => void) {
    if (!this.postponed) return run();
    this.postponed = false;
    // Nothing more of the body is taken until then.
    if (!this.bodyEnded) this.pause();
    if (!this.shared.late.add(run)) this.close();
  }

  answer(status: number, headers: HeaderList, body: string | Uint8Array = "") {
    if (this.over) return;
    if (this.postponed) return this.inTurn(() => this.answer(status, headers, body));
    const leaves = this.leavesBody;
    if (leaves) this.pause();
    else this.resume();
    this.finish();
    const { res } = this;
    res.cork(() => {
      if (status !== 200) res.writeStatus(statusLine(status));
      for (let i = 0; i < headers.length; i += 2) res.writeHeader(headers[i] as string, headers[i + 1] as string);
      // The parser would cut the connection off, and with it the answer, while the client sends still: it is not
      // read any more instead, and goes when its client has gone or the parser's patience ends.
      const cuts = this.shared.closing || this.malformed !== undefined;
      if (leaves && !cuts) res.writeHeader("connection", "close");
      if (this.method === "HEAD") res.endWithoutBody(Buffer.byteLength(body), cuts);
      else res.end(body, cuts);
    });
  }

  open(status: number, headers: HeaderList, length?: number): void {
    if (this.over) return;
    const { res } = this;
    if (this.method === "HEAD") this.complete();
    res.cork(() => {
      res.writeStatus(statusLine(status));
      for (let i = 0; i < headers.length; i += 2) res.writeHeader(headers[i] as string, headers[i + 1] as string);
      if (this.method === "HEAD") res.endWithoutBody(length ?? 0, this.shared.closing);
    });
    this.length = length;
  }

  write(piece: string | Uint8Array): boolean {
    if (this.over) return false;
    if (this.length !== undefined)
      return this.writeOf(this.length, typeof piece === "string" ? Buffer.from(piece) : piece);
    let flushed = false;
    this.res.cork(() => {
      flushed = this.res.write(piece);
    });
    return flushed;
  }

  /** Writes a piece of an answer of known length: what the socket does not take at once is kept for later. */
  private writeOf(length: number, bytes: Uint8Array): boolean {
    const at = this.res.getWriteOffset();
    if (at + bytes.byteLength >= length) this.resume();
    let taken = false;
    let complete = false;
    this.res.cork(() => {
      [taken, complete] = this.res.tryEnd(bytes, length);
    });
    this.rest = taken || complete ? undefined : { bytes, at };
    if (complete) this.finish();
    return taken;
  }

  onWritable(listener: () => void): void {
    if (this.over) return;
    this.res.onWritable((offset) => {
      const { rest } = this;
      const caughtUp =
        rest === undefined || this.writeOf(this.length as number, rest.bytes.subarray(offset - rest.at)) || this.over;
      if (caughtUp) listener();
      return caughtUp;
    });
  }

  end(piece = "") {
    if (this.over) return;
    // Less than was told: the client must not take it for the whole.
    if (this.length !== undefined && this.length > 0) return this.close();
    this.complete();
    this.res.cork(() => {
      if (piece !== "") this.res.write(piece);
      this.res.end(undefined, this.shared.closing);
    });
  }

  close(): void {
    if (!this.over) this.res.close();
  }

  private abort(): void {
    this.gone = true;
    if (this.over) return;
    this.finish();
    for (const listener of this.goneListeners ?? []) listener();
  }

  /** To be called before the last write: the connection's next request must be read. */
  private complete(): void {
    this.resume();
    this.finish();
  }

  private finish(): void {
    this.over = true;
    this.shared.inFlight--;
    this.leave();
  }
}
