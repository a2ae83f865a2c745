import { createServer as createHttp1Server, type Server } from "node:http";
import { createServer as createHttp2Server, type ServerHttp2Session } from "node:http2";
import type { NodeResponse } from "./answer.js";
import type { NodeRequest } from "./body.js";
import type { Connection } from "./connection.js";
import { guardSession } from "./sessions.js";

/** Streams of a session at once: the fewest that RFC 9113 section 6.5.2 recommends, for one packet may open them all. */
const MAX_STREAMS = 100;
const MAX_HEADERS = 64;
const MAX_HEADER_BYTES = 16 << 10;
/** Streams past the limit, or frames that break a rule, which end a session. */
const MAX_REJECTED = 100;
/** Requests of HTTP/1.1 on one connection that wait for the answers to those before them. */
const MAX_PIPELINED = 16;
/** How long a request of HTTP/1.1 may take for its headers, and for all of it, in milliseconds. */
const HEADERS_MS = 10_000;
const REQUEST_MS = 60_000;
/** How often is looked for those that are late, in milliseconds. */
const LOOK_MS = 2_000;

/** Hears of a request of a connection. */
export type OnRequest = (request: NodeRequest, response: NodeResponse, connection: Connection) => void;

/** Hears of what clients do beside their requests. */
export interface OnConnection {
  /** One floods its connection. */
  flooded(connection: Connection): void;
  /** One took a call back. */
  takenBack(connection: Connection): void;
}

/** One version of HTTP: it is handed its connections and never listens. */
export interface Protocol {
  adopt(connection: Connection): void;
  /** Closes what is idle, and the rest when its calls have ended. */
  close(): void;
}

const BAD_REQUEST = "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n";
/** What the parser found, as a client is told. */
const ANSWERS: Readonly<Record<string, string>> = {
  HPE_HEADER_OVERFLOW: "HTTP/1.1 431 Request Header Fields Too Large\r\nConnection: close\r\n\r\n",
  ERR_HTTP_REQUEST_TIMEOUT: "HTTP/1.1 408 Request Timeout\r\nConnection: close\r\n\r\n",
};
/** What is found where a client went away in the middle. */
const WENT_AWAY: ReadonlySet<string> = new Set(["ECONNRESET", "EPIPE", "HPE_INVALID_EOF_STATE"]);

/** HTTP/1.1. */
export function speakHttp1(onRequest: OnRequest, { flooded }: Pick<OnConnection, "flooded">): Protocol {
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
    if (connection === undefined || connection.isLeft) return;
    if (connection.calls >= MAX_PIPELINED) flooded(connection);
    else onRequest(request, response, connection);
  };
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const connection = bySocket.get(socket);
    if (connection === undefined || connection.isLeft || WENT_AWAY.has(error.code ?? "")) return void socket.destroy();
    connection.farewell = () =>
      socket.writable ? socket.end(ANSWERS[error.code ?? ""] ?? BAD_REQUEST) : socket.destroy();
    flooded(connection);
  });
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
export function speakHttp2(onRequest: OnRequest, heard: OnConnection): Protocol {
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
    guardSession(session, connection, {
      flooded: () => heard.flooded(connection),
      takenBack: () => heard.takenBack(connection),
    });
  });
  const serve = (request: NodeRequest, response: NodeResponse): void => {
    if (!("stream" in request)) return;
    const connection = sessions.get(request.stream.session as ServerHttp2Session);
    if (connection !== undefined && !connection.isLeft) onRequest(request, response, connection);
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
