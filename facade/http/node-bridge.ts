import { createServer, type IncomingMessage, type RequestListener, request, type Server } from "node:http";
import { type Duplex, duplexPair, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { Log } from "../../services/shared/process/log.js";
import type { BodyStream } from "./exchange.js";
import type { Page, PageRequest, Route } from "./route.js";

/** A handler of `node:http`, and where it is mounted. */
export interface NodeBridgeOptions {
  /** The path below which the handler answers; it sees the whole path of a request, this one included. */
  readonly prefix: string;
  /** An ordinary handler of `node:http`: of koa, express, or by hand. */
  readonly handler: RequestListener;
  /** Longest body of a request, in bytes. */
  readonly maxBody: number;
  readonly log: Log;
}

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

/**
 * Mounts a handler of `node:http` on the edge. A request reaches it over a
 * connection in memory between Node's own HTTP client and server, so that its
 * request and response are real ones to the last detail: streams with
 * backpressure, `close` where the client goes, chunked bodies, cookies.
 */
export function nodeRoutes({ prefix, handler, maxBody, log }: NodeBridgeOptions): Route[] {
  const server = serverOf(handler, log);
  const handle = (incoming: PageRequest<BodyStream>): Promise<Page> => pageOf(incoming, server);
  const route: Route = { path: `${prefix}/*`, methods: METHODS, takes: "stream", maxBody, handle };
  return [route, { ...route, path: prefix }];
}

/** A server that never listens: it is handed its connections. */
function serverOf(handler: RequestListener, log: Log): Server {
  const server = createServer({ requestTimeout: 0, headersTimeout: 0, keepAlive: false }, async (req, res) => {
    res.sendDate = false;
    try {
      await handler(req, res);
    } catch (error) {
      log.error({ err: error, path: req.url }, "a handler of node:http failed");
      if (res.headersSent) res.destroy();
      else res.writeHead(500, { "content-type": "application/json" }).end(FAILED);
    }
  });
  return server;
}

const FAILED = JSON.stringify({
  error: "internal",
  message: "The service failed to answer: ask an administrator to read the cause in its log.",
});

async function pageOf(incoming: PageRequest<BodyStream>, server: Server): Promise<Page> {
  const { method, path, query, signal, body, headers } = incoming;
  const hasBody = headers["transfer-encoding"] !== undefined || Number(headers["content-length"] ?? 0) > 0;
  const sent = request({
    method,
    path: query === "" ? path : `${path}?${query}`,
    headers: forwarded(headers),
    setHost: false,
    createConnection: () => connectionTo(server, incoming.address),
  });
  // An option of this name would let go of the signal once the request was sent.
  signal.addEventListener("abort", () => sent.destroy(), { once: true });
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    sent.once("response", resolve);
    // Also after the response: what comes then ends its stream.
    sent.on("error", reject);
  });
  if (hasBody) {
    // A handler may answer, and be done, before it has read all.
    pipeline(Readable.from(body), sent).catch((error: Error) => sent.destroy(error));
  } else sent.end();
  return answer(await answered);
}

function answer(reply: IncomingMessage): Page {
  const headers: string[] = [];
  for (let i = 0; i < reply.rawHeaders.length; i += 2) {
    const name = reply.rawHeaders[i] as string;
    if (!OF_ONE_HOP.has(name.toLowerCase())) headers.push(name, reply.rawHeaders[i + 1] as string);
  }
  const length = reply.headers["content-length"];
  const told = length === undefined ? undefined : Number(length);
  const status = reply.statusCode as number;
  const bodiless = status === 204 || status === 304;
  if (bodiless) reply.resume();
  return {
    status,
    headers,
    ...(!bodiless && { body: reply }),
    ...(!bodiless && told !== undefined && { length: told }),
  };
}

/** What one connection says of itself, or of a body that the next frames anew (RFC 9110 section 7.6.1). */
const OF_ONE_HOP = new Set([
  "connection",
  "content-length",
  "expect",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

function forwarded(headers: PageRequest<unknown>["headers"]): Record<string, string> {
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(headers)) {
    if (value !== undefined && (name === "content-length" || !OF_ONE_HOP.has(name))) kept[name] = value;
  }
  return kept;
}

/** The client's end of a connection in memory, whose other end the server has. */
function connectionTo(server: Server, remoteAddress: string): Duplex {
  const [near, far] = duplexPair();
  near.once("close", () => far.destroy());
  far.once("close", () => near.destroy());
  server.emit("connection", Object.assign(far, { remoteAddress }));
  return near;
}
