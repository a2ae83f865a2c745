import { createServer as createHttp1Server } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Session } from "node:http2";
import { type AddressInfo, createServer as createSocketServer, type Socket } from "node:net";
import type { ConnectRouter, HandlerContext, MethodImpl } from "@connectrpc/connect";
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
  /** Services that do not speak for a caller: health and reflection. */
  readonly routes?: (router: ConnectRouter) => void;
}

const MAX_MESSAGE_BYTES = 4 << 20;
const PREFACE = "PRI * HTTP/2.0";

/**
 * Serves gRPC, gRPC-Web and Connect on one port, HTTP/2 without TLS by prior
 * knowledge and HTTP/1.1.
 */
export async function serveConnect({ host, port, methods, routes }: Options): Promise<RpcServer> {
  const adapter = connectNodeAdapter({
    readMaxBytes: MAX_MESSAGE_BYTES,
    acceptCompression: [],
    routes(router) {
      for (const { method, steps } of methods) {
        const run = chain(method, steps);
        const serve = (request: unknown, context: HandlerContext): unknown => run(request, incomingOf(context));
        router.rpc(method.desc, serve as MethodImpl<typeof method.desc>);
      }
      routes?.(router);
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
