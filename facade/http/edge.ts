// The edge: the only file that knows of µWebSockets.js.

import type { HttpRequest, HttpResponse, TemplatedApp, us_listen_socket } from "uWebSockets.js";
import { type Exchange, type HeaderList, STATUS, type Status } from "./http.js";

/** Longest header block that is accepted, in bytes. µWS reads it once, when it loads. */
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= "16384";
const { default: uws } = await import("uWebSockets.js");

/** LIBUS_LISTEN_EXCLUSIVE_PORT of µSockets, which the package's types do not export. */
const EXCLUSIVE_PORT = 1;

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

export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Fail where another process listens on the port, instead of sharing it. */
  readonly exclusive: boolean;
}

/** Shared by the exchanges of one server. */
interface Shared {
  inFlight: number;
  closing: boolean;
}

/** Serves until closed. @throws Error where the port cannot be had. */
export function listen({ host, port, exclusive }: ListenOptions, handle: (exchange: Exchange) => void): Promise<Edge> {
  const shared: Shared = { inFlight: 0, closing: false };
  const app = uws.App();
  app.any("/*", (res, req) => handle(new UwsExchange(res, req, shared)));
  return new Promise((resolve, reject) => {
    const onListen = (socket: us_listen_socket | false) => {
      if (socket === false) return reject(new Error(`cannot listen on ${host}:${port}: the port is taken`));
      resolve(edgeOf(app, socket, shared));
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

function edgeOf(app: TemplatedApp, socket: us_listen_socket, shared: Shared): Edge {
  let listening = true;
  const stopListening = (): void => {
    shared.closing = true;
    if (listening) uws.us_listen_socket_close(socket);
    listening = false;
  };
  return {
    port: uws.us_socket_local_port(socket as never),
    inFlight: () => shared.inFlight,
    stopListening,
    close() {
      stopListening();
      app.close();
    },
  };
}

class UwsExchange implements Exchange {
  readonly method: string;
  readonly path: string;
  readonly query: string;
  readonly headers: Record<string, string | undefined> = {};
  gone = false;
  private over = false;
  private goneListener: (() => void) | undefined;

  // `req` is gone once the constructor's caller returns: all of it is taken here.
  constructor(
    private readonly res: HttpResponse,
    req: HttpRequest,
    private readonly shared: Shared,
  ) {
    this.method = req.getCaseSensitiveMethod();
    this.path = req.getUrl();
    this.query = req.getQuery();
    const { headers } = this;
    req.forEach((name, value) => {
      const before = headers[name];
      headers[name] = before === undefined || before === value ? value : `${before}, ${value}`;
    });
    shared.inFlight++;
    res.onAborted(() => this.abort());
  }

  get address(): string {
    return this.over ? "" : Buffer.from(this.res.getRemoteAddressAsText()).toString();
  }

  onGone(listener: () => void): void {
    this.goneListener = listener;
  }

  read(given: number | (() => number), done: (text: string | undefined) => void) {
    const limitOf = typeof given === "number" ? () => given : given;
    let earlier: Buffer[] | undefined;
    let size = 0;
    let told = false;
    const declared = Number(this.headers["content-length"] ?? 0);
    if (declared > limitOf()) return done(undefined);
    this.res.onData((chunk, last) => {
      if (this.over || told) return;
      size += chunk.byteLength;
      const tooLong = size > limitOf();
      told = tooLong || last;
      if (tooLong) return done(undefined);
      const bytes = Buffer.from(chunk);
      if (last) {
        if (earlier === undefined) return done(bytes.toString());
        earlier.push(bytes);
        return done(Buffer.concat(earlier).toString());
      }
      // µWS reuses the chunk's memory, so a copy is kept.
      earlier ??= [];
      earlier.push(Buffer.from(bytes));
    });
  }

  pause(): void {
    if (!this.over) this.res.pause();
  }

  resume(): void {
    if (!this.over) this.res.resume();
  }

  answer(status: Status, headers: HeaderList, body: string | Uint8Array = ""): void {
    if (this.over) return;
    this.finish();
    const { res } = this;
    res.cork(() => {
      if (status !== 200) res.writeStatus(STATUS[status]);
      for (let i = 0; i < headers.length; i += 2) res.writeHeader(headers[i] as string, headers[i + 1] as string);
      // A body too large is not read to its end: what follows on the connection is not a request.
      const close = this.shared.closing || status === 413;
      if (this.method === "HEAD") res.endWithoutBody(Buffer.byteLength(body), close);
      else res.end(body, close);
    });
  }

  open(status: Status, headers: HeaderList): void {
    if (this.over) return;
    const { res } = this;
    res.cork(() => {
      res.writeStatus(STATUS[status]);
      for (let i = 0; i < headers.length; i += 2) res.writeHeader(headers[i] as string, headers[i + 1] as string);
    });
  }

  write(piece: string | Uint8Array): boolean {
    if (this.over) return false;
    let flushed = false;
    this.res.cork(() => {
      flushed = this.res.write(piece);
    });
    return flushed;
  }

  onWritable(listener: () => void): void {
    if (this.over) return;
    this.res.onWritable(() => {
      listener();
      return true;
    });
  }

  end(piece = ""): void {
    if (this.over) return;
    this.finish();
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
    this.goneListener?.();
  }

  private finish(): void {
    this.over = true;
    this.shared.inFlight--;
  }
}
