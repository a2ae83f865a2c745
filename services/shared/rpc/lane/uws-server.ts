// Loaded with µWebSockets.js, and only where a lane is wanted: open.ts does so.

import type { HttpResponse, TemplatedApp, us_listen_socket } from "uWebSockets.js";
import { randomBytes, timingSafeEqual } from "node:crypto";
import { rmSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { contentTypeUnaryJson, contentTypeUnaryProto, errorToJsonBytes } from "@connectrpc/connect/protocol-connect";
import type { Chain } from "../chain.js";
import { unimplemented } from "../errors.js";
import type { Method } from "../method.js";
import type { Hold } from "../socket/calls.js";
import type { CallSlots } from "../socket/slots.js";
import { LOCAL_HOST, type OwnLane, TOKEN_HEADER } from "./announcement.js";
import { laneRoutesOf } from "./routes.js";
import type { Lane } from "./served-call.js";
import { newSocketPath } from "./socket-path.js";
import { serveOwn } from "./uws-own.js";
import { sharing } from "./uws-shared.js";
import { SHARED_PATH } from "./websocket.js";

// Read once, when it loads.
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(16 << 10);
const { default: uws } = await import("uWebSockets.js");
/** Leaves out the header that names the server: Loop::setSilent of µWebSockets, which the package's types do not export. */
(uws as unknown as { _cfg(word: "silent"): void })._cfg("silent");

/** LIBUS_LISTEN_EXCLUSIVE_PORT of µSockets, which the package's types do not export. */
const EXCLUSIVE_PORT = 1;
/** Connections at once; one more is closed as it comes. */
const MAX_CONNECTIONS = 2_000;
/**
 * How long connections are told, after the last call has ended, that the lane closes, in milliseconds. A call that is on
 * its way when its connection closes may have been begun, so no connection is closed from here while its client may use
 * it: who is told leaves, and who asks nothing closes its idle connections within 5 seconds (lane.ts).
 */
const FAREWELL_MS = 5_500;
const LOOK_MS = 20;

/** What a lane serves, and where. */
export interface LaneServerOptions {
  /** A Unix domain socket, or a free port on loopback if the system has no such sockets; or this port. */
  readonly at: "socket" | { readonly host: string; readonly port: number };
  readonly methods: readonly { readonly method: Method; readonly steps: Chain }[];
  /** Those of the gRPC port: a caller has one share of both. */
  readonly slots: CallSlots;
  readonly hold: Hold | undefined;
}

/** A lane that listens. */
export type LaneServer = OwnLane & {
  /** Begins no more calls, lets those in flight finish, then closes. */
  close(graceMs: number): Promise<void>;
};

/**
 * Serves unary methods to clients that send the lane's token: over HTTP/1.1 (uws-own.ts), and on connections that many
 * calls share (uws-shared.ts). It closes any other connection as soon as it has read the headers.
 *
 * @throws Error where the port cannot be had.
 */
export async function listenOnLane({ at, methods, slots, hold }: LaneServerOptions): Promise<LaneServer> {
  const token = randomBytes(32).toString("base64url");
  const secret = Buffer.from(token);
  const isTheirs = (given: string): boolean =>
    given.length === secret.length && timingSafeEqual(Buffer.from(given, "latin1"), secret);
  const lane: Lane = { slots, hold, inFlight: 0 };
  let isClosing = false;
  let connections = 0;
  const app = uws.App();
  // Told of every connection that comes (1) and goes (-1).
  const count = (response: HttpResponse, change: number): void => {
    connections += change;
    if (change === 1 && connections > MAX_CONNECTIONS) response.close();
  };
  app.filter(count as Parameters<TemplatedApp["filter"]>[0]);
  const routes = laneRoutesOf(methods);
  app.ws(SHARED_PATH, {
    ...sharing(routes, lane, { isClosing: () => isClosing, closed: () => void connections-- }),
    upgrade(response, request, context) {
      if (!isTheirs(request.getHeader(TOKEN_HEADER))) return shut(response);
      if (isClosing) return misdirect(response);
      const [key, protocol] = [request.getHeader("sec-websocket-key"), request.getHeader("sec-websocket-protocol")];
      response.upgrade({}, key, protocol, request.getHeader("sec-websocket-extensions"), context);
    },
  });
  for (const route of routes) {
    app.post(route.path, (response, request) => {
      if (!isTheirs(request.getHeader(TOKEN_HEADER))) shut(response);
      else if (isClosing) misdirect(response);
      else if (request.getHeader("content-type") !== contentTypeUnaryProto) refuseType(response);
      else serveOwn(route, lane, response, request);
    });
    app.any(route.path, (response, request) => {
      if (!isTheirs(request.getHeader(TOKEN_HEADER))) shut(response);
      else response.writeStatus("405 Method Not Allowed").writeHeader("allow", "POST").end("", true);
    });
  }
  // By which a connection shows that it has the token, before it is given a call.
  app.get("/", (response, request) => {
    if (!isTheirs(request.getHeader(TOKEN_HEADER))) shut(response);
    else if (isClosing) misdirect(response);
    else response.writeStatus("204 No Content").endWithoutBody();
  });
  app.any("/*", (response, request) => {
    if (!isTheirs(request.getHeader(TOKEN_HEADER))) shut(response);
    else response.writeStatus("404 Not Found").writeHeader("content-type", contentTypeUnaryJson).end(NO_SUCH_RPC, true);
  });
  const path = at === "socket" ? newSocketPath() : undefined;
  const { host, port } = at === "socket" ? { host: LOCAL_HOST, port: 0 } : at;
  const remove = (): void => {
    if (path !== undefined) rmSync(dirname(path), { recursive: true, force: true });
  };
  const opening = path === undefined ? open(app, host, port) : openAt(app, path);
  const socket = await opening.catch((error: unknown) => {
    remove();
    throw error;
  });
  const end = async (graceMs: number): Promise<void> => {
    uws.us_listen_socket_close(socket);
    const until = performance.now() + graceMs;
    while (lane.inFlight > 0 && performance.now() < until) await sleep(LOOK_MS);
    const leaveBy = Math.min(until, performance.now() + FAREWELL_MS);
    while (connections > 0 && performance.now() < leaveBy) await sleep(LOOK_MS);
    app.close();
    remove();
  };
  let closing: Promise<void> | undefined;
  return {
    token,
    ...(path === undefined
      ? { port: uws.us_socket_local_port(socket as never), isLocal: host === LOCAL_HOST }
      : { path }),
    close(graceMs) {
      isClosing = true;
      // What is closed twice ends the process.
      closing ??= end(graceMs);
      return closing;
    },
  };
}

/** Who has no token is told nothing. */
function shut(response: HttpResponse): void {
  response.onAborted(() => undefined);
  response.close();
}

/** The call is for the gRPC port (RFC 9110 section 15.5.20): nothing of it was begun. */
function misdirect(response: HttpResponse): void {
  response.writeStatus("421 Misdirected Request").end("", true);
}

function refuseType(response: HttpResponse): void {
  response.writeStatus("415 Unsupported Media Type").writeHeader("accept-post", contentTypeUnaryProto).end("", true);
}

const NO_SUCH_RPC = errorToJsonBytes(unimplemented("the lane has no such rpc"), undefined);

function open(app: TemplatedApp, host: string, port: number): Promise<us_listen_socket> {
  return new Promise((resolve, reject) => {
    const onListen = (socket: us_listen_socket | false): void => {
      if (socket !== false) resolve(socket);
      else reject(new Error(`cannot listen on ${host}:${port} (lane port): choose another port`));
    };
    (app.listen as unknown as (h: string, p: number, o: number, cb: typeof onListen) => void)(
      host,
      port,
      EXCLUSIVE_PORT,
      onListen,
    );
  });
}

function openAt(app: TemplatedApp, path: string): Promise<us_listen_socket> {
  return new Promise((resolve, reject) => {
    app.listen_unix((socket: us_listen_socket | false) => {
      if (socket !== false) resolve(socket);
      else reject(new Error(`cannot listen on ${path} (lane): set LANE_PORT to a port instead`));
    }, path);
  });
}
