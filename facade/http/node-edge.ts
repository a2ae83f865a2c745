import { createServer, type Server } from "node:http";
import { type AddressInfo, type ListenOptions as NetOptions, Server as NetServer, type Socket } from "node:net";
import { Queue } from "../../services/shared/limits/queue.js";
import {
  type Edge,
  IDLE_MS,
  type ListenOptions,
  MAX_CONNECTIONS,
  MAX_HEADER_BYTES,
  POSTPONED,
  portTaken,
  Traffic,
} from "./edge.js";
import type { Exchange } from "./exchange.js";
import { NodeConnection } from "./node-connection.js";
import { checkFeeding } from "./node-feed.js";

/** How often connections are looked over for headers that do not come, in milliseconds. */
const LOOK_MS = 1_000;

/** Postponed answers in one turn of the event loop, however long it was: a turn takes one connection (libuv since 1.45), and many may wait outside. */
const POSTPONED_PER_TURN = 2;

/** Connections that wait to be taken. */
const BACKLOG = 2_048;

/** What the parser says, by its code; anything else is malformed. */
const FAULTS: Readonly<Record<string, readonly [status: number, fault: string]>> = {
  HPE_HEADER_OVERFLOW: [
    431,
    `The headers are longer than ${MAX_HEADER_BYTES >> 10} KiB: send fewer or shorter headers.`,
  ],
  ERR_HTTP_REQUEST_TIMEOUT: [408, "The headers took too long to arrive: send the request again."],
};
const MALFORMED = [400, "The request is malformed: it is not valid HTTP/1.1."] as const;

/** Whether this Node lets processes share a port, by SO_REUSEPORT. */
export function sharesPorts(version = process.versions.node): boolean {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  return major > 23 || (major === 23 && minor >= 1) || (major === 22 && minor >= 12);
}

/** Serves on node:http: see Listen. @param idleMs how long a connection may be silent where it is the client's turn. */
export async function listen(
  { host, port, exclusive, maxConnections = MAX_CONNECTIONS, bodyMs }: ListenOptions,
  handle: (exchange: Exchange) => void,
  idleMs = IDLE_MS,
): Promise<Edge> {
  checkFeeding();
  const traffic = new Traffic(bodyMs, new Queue({ ...POSTPONED, perTurn: POSTPONED_PER_TURN, perMs: 0 }));
  const server = createServer({
    maxHeaderSize: MAX_HEADER_BYTES,
    headersTimeout: idleMs,
    connectionsCheckingInterval: Math.min(LOOK_MS, idleMs),
    // Bodies have clocks of their own, and silence between requests is told of as silence is.
    requestTimeout: 0,
    keepAliveTimeout: 0,
    // Told as what is malformed is.
    requireHostHeader: false,
  });
  // The bytes of headers are bounded: none of them is left out in silence.
  server.maxHeadersCount = 0;
  server.maxConnections = maxConnections;
  let connections = 0;
  serve(server, (socket) => {
    connections++;
    socket.once("close", () => connections--);
    return new NodeConnection(socket, traffic, handle, idleMs);
  });
  server.setTimeout(idleMs);
  await bind(server, { host, port, backlog: BACKLOG, ...(!exclusive && { reusePort: true }) });
  return edgeOf(server, traffic, () => connections);
}

function serve(server: Server, connect: (socket: Socket) => NodeConnection): void {
  const connections = new WeakMap<object, NodeConnection>();
  const of = (socket: object): NodeConnection => connections.get(socket) as NodeConnection;
  server.on("connection", (socket) => connections.set(socket, connect(socket)));
  for (const event of ["request", "checkContinue", "checkExpectation"] as const) {
    server.on(event, (req, res) => of(req.socket).take(req, res));
  }
  server.on("clientError", ({ code = "" }: NodeJS.ErrnoException, socket) => {
    const [status, fault] = FAULTS[code] ?? MALFORMED;
    of(socket).fail(status, fault);
  });
  server.on("timeout", (socket) => of(socket).silent());
}

function bind(server: Server, options: NetOptions & { reusePort?: boolean }): Promise<void> {
  const { host = "", port = 0 } = options;
  return new Promise((resolve, reject) => {
    server.once("error", ({ code, message }: NodeJS.ErrnoException) =>
      reject(code === "EADDRINUSE" ? portTaken(host, port) : new Error(`cannot listen on ${host}:${port}: ${message}`)),
    );
    server.listen(options, resolve);
  });
}

function edgeOf(server: Server, traffic: Traffic, connections: () => number): Edge {
  const stopListening = (): void => {
    traffic.closing = true;
    // That of an HTTP server also cuts the connections that have no request at the moment.
    NetServer.prototype.close.call(server);
  };
  return {
    port: (server.address() as AddressInfo).port,
    inFlight: () => traffic.inFlight,
    connections,
    stopListening,
    close() {
      stopListening();
      server.closeAllConnections();
    },
  };
}
