import { createServer as createHttp1Server } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Session } from "node:http2";
import { type AddressInfo, createServer as createSocketServer, type Socket } from "node:net";
import type { HandlerContext, MethodImpl } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import { bounded } from "./bounded.js";
import { MAX_MESSAGE_BYTES } from "./bounds.js";
import type { Incoming } from "./call.js";
import { type Chain, chain } from "./chain.js";
import type { Method } from "./method.js";
import { ASSERTION_HEADER } from "./remote.js";

/** A server of methods that listens. */
export interface RpcServer {
  readonly port: number;
  /** Accepts no more calls, lets those in flight finish, then closes. */
  close(graceMs: number): Promise<void>;
}

/** Where a server listens, and what it serves. */
export interface Options {
  readonly host: string;
  readonly port: number;
  readonly methods: readonly { readonly method: Method; readonly steps: Chain }[];
}

const PREFACE = "PRI * HTTP/2.0";
/** Bytes that tell the preface from every method of HTTP/1.1. */
const TELLING = 3;
const MAX_CONNECTIONS = 2_000;
const MAX_STREAMS = 250;
/** How long a connection may take to say what it speaks, in milliseconds. */
const FIRST_BYTES_MS = 10_000;
const REQUEST_MS = 60_000;
/** A connection without a frame, a ping included, for this long is closed. */
const IDLE_MS = 120_000;

/**
 * Serves gRPC, gRPC-Web and Connect on one port, HTTP/2 without TLS by prior
 * knowledge and HTTP/1.1.
 */
export async function serveConnect({ host, port, methods }: Options): Promise<RpcServer> {
  const closing = new AbortController();
  const adapter = connectNodeAdapter({
    readMaxBytes: MAX_MESSAGE_BYTES,
    acceptCompression: [],
    routes(router) {
      for (const { method, steps } of methods) {
        const run = chain(method, steps);
        const isDuplex = method.desc.methodKind === "bidi_streaming";
        const serve = (request: unknown, context: HandlerContext): unknown =>
          run(isDuplex ? endedBy(closing.signal, request as AsyncIterable<unknown>) : request, incomingOf(context));
        router.rpc(method.desc, serve as MethodImpl<typeof method.desc>);
      }
      router.handlers.forEach((handler, i) => {
        router.handlers[i] = bounded(handler);
      });
    },
  });
  const http1 = createHttp1Server({ headersTimeout: FIRST_BYTES_MS, requestTimeout: REQUEST_MS }, adapter);
  // It is handed its sockets and never listens, which is when it would begin to watch for slow requests.
  http1.emit("listening");
  const http2 = createHttp2Server({ settings: { maxConcurrentStreams: MAX_STREAMS } }, adapter);
  const sessions = new Set<ServerHttp2Session>();
  http2.on("session", (session) => {
    sessions.add(session);
    session.setTimeout(IDLE_MS, () => session.close());
    session.on("close", () => sessions.delete(session));
  });

  // The first bytes tell the protocol: HTTP/2 opens with its preface (RFC 9113 section 3.4).
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    const timer = setTimeout(() => socket.destroy(), FIRST_BYTES_MS);
    socket.on("close", () => {
      clearTimeout(timer);
      sockets.delete(socket);
    });
    socket.on("error", () => socket.destroy());
    let head = Buffer.alloc(0);
    const onReadable = (): void => {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return void socket.destroy();
      head = Buffer.concat([head, chunk]);
      const isPreface = PREFACE.startsWith(head.toString("latin1", 0, Math.min(head.length, PREFACE.length)));
      // "P" alone may yet become POST.
      if (isPreface && head.length < TELLING) return void socket.once("readable", onReadable);
      clearTimeout(timer);
      socket.unshift(head);
      (isPreface ? http2 : http1).emit("connection", socket);
    };
    socket.once("readable", onReadable);
  });
  server.maxConnections = MAX_CONNECTIONS;

  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, () => {
      server.off("error", reject);
      resolve();
    });
  });

  return {
    port: (server.address() as AddressInfo).port,
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      closing.abort(new Error("the server is closing"));
      http1.closeIdleConnections();
      for (const session of sessions) session.close();
      const timer = setTimeout(() => {
        for (const session of sessions) session.destroy();
        for (const socket of sockets) socket.destroy();
      }, graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** Ends what a client sends on a stream both ways, such as a watch, which nobody else would end. */
async function* endedBy(signal: AbortSignal, requests: AsyncIterable<unknown>): AsyncIterable<unknown> {
  const iterator = requests[Symbol.asyncIterator]();
  let end = (): void => undefined;
  const onAbort = (): void => end();
  signal.addEventListener("abort", onAbort);
  try {
    while (!signal.aborted) {
      // A promise of its own for each: one that all are raced against would keep them all.
      const next = await new Promise<IteratorResult<unknown>>((resolve, reject) => {
        end = () => resolve({ done: true, value: undefined });
        iterator.next().then(resolve, reject);
      });
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

function incomingOf(context: HandlerContext): Incoming {
  const { requestHeader: header, signal } = context;
  const assertion = header.get(ASSERTION_HEADER);
  const authorization = header.get("authorization");
  const traceparent = header.get("traceparent");
  const left = context.timeoutMs();
  return {
    credential: {
      ...(assertion !== null && { assertion }),
      ...(authorization !== null && { authorization }),
    },
    signal,
    ...(left !== undefined && { deadline: Date.now() + left }),
    ...(traceparent !== null && { traceparent }),
  };
}
