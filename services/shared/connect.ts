import { createServer as createHttp1Server } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Session } from "node:http2";
import { type AddressInfo, createServer as createSocketServer, type Socket } from "node:net";
import type { HandlerContext, MethodImpl } from "@connectrpc/connect";
import { connectNodeAdapter } from "@connectrpc/connect-node";
import type { Incoming } from "./call.js";
import { type Chain, chain } from "./chain.js";
import type { Method } from "./method.js";
import { ASSERTION_HEADER } from "./remote.js";

export interface RpcServer {
  readonly port: number;
  /** Accepts no more calls, lets those in flight finish, then closes. */
  close(graceMs: number): Promise<void>;
}

export interface Options {
  readonly host: string;
  readonly port: number;
  readonly methods: readonly { readonly method: Method; readonly steps: Chain }[];
}

const MAX_MESSAGE_BYTES = 4 << 20;
const PREFACE = "PRI * HTTP/2.0";

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
    },
  });
  const http1 = createHttp1Server(adapter);
  const http2 = createHttp2Server(adapter);
  const sessions = new Set<ServerHttp2Session>();
  http2.on("session", (session) => {
    sessions.add(session);
    session.on("close", () => sessions.delete(session));
  });

  // The first bytes tell the protocol: HTTP/2 opens with its preface (RFC 9113 section 3.4).
  const sockets = new Set<Socket>();
  const server = createSocketServer((socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
    socket.once("readable", () => {
      const chunk = socket.read() as Buffer | null;
      if (chunk === null) return socket.destroy();
      socket.unshift(chunk);
      const isHttp2 = PREFACE.startsWith(chunk.toString("latin1", 0, Math.min(chunk.length, PREFACE.length)));
      (isHttp2 ? http2 : http1).emit("connection", socket);
    });
  });

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
  const ended = new Promise<IteratorReturnResult<undefined>>((resolve) => {
    end = () => resolve({ done: true, value: undefined });
  });
  signal.addEventListener("abort", end);
  try {
    for (;;) {
      const next = await Promise.race([iterator.next(), ended]);
      if (next.done) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener("abort", end);
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
