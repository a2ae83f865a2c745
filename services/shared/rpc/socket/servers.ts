import { createServer as createHttp1Server, type Server } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Session } from "node:http2";
import type { NodeResponse } from "./answer.js";
import type { NodeRequest } from "./body.js";
import type { Connection } from "./connections.js";
import { guardSession } from "./sessions.js";

/** Streams of a session at once. */
const MAX_STREAMS = 250;
const MAX_HEADERS = 64;
const MAX_HEADER_BYTES = 16 << 10;
/** Streams past the limit, or frames that break a rule, which end a session. */
const MAX_REJECTED = 100;
/** How long a request of HTTP/1.1 may take for its headers, and for all of it, in milliseconds. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 60_000;
/** How often is looked for those that are late, in milliseconds. */
const LOOK_MS = 2_000;

/** Hears of a request of a connection. */
export type OnRequest = (request: NodeRequest, response: NodeResponse, connection: Connection) => void;

/** One version of HTTP: it is handed its connections and never listens. */
export interface Protocol {
  adopt(connection: Connection): void;
  /** Closes what is idle, and the rest when its calls have ended. */
  close(): void;
}

/** HTTP/1.1. */
export function speakHttp1(onRequest: OnRequest): Protocol {
  const bySocket = new WeakMap<object, Connection>();
  const server: Server = createHttp1Server({
    headersTimeout: HEADERS_MS,
    requestTimeout: REQUEST_MS,
    connectionsCheckingInterval: LOOK_MS,
    maxHeaderSize: MAX_HEADER_BYTES,
  });
  server.maxHeadersCount = MAX_HEADERS;
  const serve = (request: NodeRequest, response: NodeResponse): void => {
    const connection = bySocket.get(request.socket);
    if (connection !== undefined) onRequest(request, response, connection);
  };
  // Who expects to be told to go on is told when the body is wanted, by its being read.
  server.on("request", serve).on("checkContinue", serve);
  // That is when it would begin to watch for slow requests.
  server.emit("listening");
  return {
    adopt(connection) {
      bySocket.set(connection.socket, connection);
      server.emit("connection", connection.socket);
    },
    close: () => server.closeIdleConnections(),
  };
}

/** HTTP/2 (RFC 9113), by prior knowledge. */
export function speakHttp2(onRequest: OnRequest): Protocol {
  const sessions = new Map<ServerHttp2Session, Connection>();
  const server = createHttp2Server({
    settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: MAX_HEADER_BYTES },
    maxHeaderListPairs: MAX_HEADERS,
    maxSessionInvalidFrames: MAX_REJECTED,
    maxSessionRejectedStreams: MAX_REJECTED,
  });
  let arriving: Connection | undefined;
  server.on("session", (session) => {
    const connection = arriving;
    if (connection === undefined) return session.destroy();
    sessions.set(session, connection);
    session.on("close", () => sessions.delete(session));
    guardSession(session, connection);
  });
  const serve = (request: NodeRequest, response: NodeResponse): void => {
    const session = "stream" in request ? (request.stream.session as ServerHttp2Session | undefined) : undefined;
    const connection = session && sessions.get(session);
    if (connection !== undefined) onRequest(request, response, connection);
  };
  server.on("request", serve).on("checkContinue", serve);
  return {
    adopt(connection) {
      // The session is made and told of within this very call.
      arriving = connection;
      server.emit("connection", connection.socket);
      arriving = undefined;
    },
    close() {
      for (const session of sessions.keys()) session.close();
    },
  };
}
