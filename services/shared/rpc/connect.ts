import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { HolderQueues } from "../limits/holder-queues.js";
import type { Chain } from "./chain.js";
import { type LaneOptions, openLane } from "./lane/open.js";
import type { Method } from "./method.js";
import { CALL_QUEUES, createCalls, type Hold } from "./socket/calls.js";
import { CONNECTION_LIMITS, type ConnectionLimits, Connections } from "./socket/connections.js";
import { readPreface } from "./socket/preface.js";
import { routesOf } from "./socket/routes.js";
import { type OnConnection, speakHttp1, speakHttp2 } from "./socket/servers.js";
import { CALL_SLOT_LIMITS, type CallSlotLimits, CallSlots } from "./socket/slots.js";
import { UNREAD_LIMITS, UnreadAnswers, type UnreadLimits } from "./socket/unread.js";

/** A server of methods that listens. */
export interface RpcServer {
  readonly port: number;
  /** The paths that it serves: the table that calls are routed by. */
  readonly paths: readonly string[];
  /** Accepts no more calls, lets those in flight finish, then closes. */
  close(graceMs: number): Promise<void>;
}

/** Where a server listens, and what it serves. */
export interface Options {
  readonly host: string;
  readonly port: number;
  readonly methods: readonly { readonly method: Method; readonly steps: Chain }[];
  /** Ends what is open with the credential that opened it; left out where nothing is kept of credentials. */
  readonly hold?: Hold;
  /** Serves unary calls of our own processes on another port, too (lane/). */
  readonly lane?: LaneOptions | undefined;
  readonly connections?: Partial<ConnectionLimits>;
  readonly slots?: Partial<CallSlotLimits>;
  readonly unread?: Partial<UnreadLimits>;
}

/** How long a connection may take to say what it speaks, in milliseconds. */
const FIRST_BYTES_MS = 10_000;
/** Connections that the kernel keeps for us while the loop is busy; beyond it a client's first packet is lost for a second. */
const BACKLOG = 4_096;
/** Sockets beyond the connections: those that close. */
const SPARE_SOCKETS = 1_000;

/**
 * Serves gRPC, gRPC-Web and Connect on one port, HTTP/2 without TLS by prior
 * knowledge and HTTP/1.1. What stands in front of the methods is in socket/, in
 * the order of a call: connection, session, call, body, answer.
 */
export async function serveConnect({
  host,
  port,
  methods,
  hold,
  lane: wanted,
  ...limits
}: Options): Promise<RpcServer> {
  const closing = new AbortController();
  const connectionLimits = { ...CONNECTION_LIMITS, ...limits.connections };
  const connections = new Connections(connectionLimits);
  const slots = new CallSlots({ ...CALL_SLOT_LIMITS, ...limits.slots });
  const queues = new HolderQueues(CALL_QUEUES);
  const unread = new UnreadAnswers({ ...UNREAD_LIMITS, ...limits.unread });
  const routes = routesOf(methods, closing.signal);
  const lane = wanted && (await openLane({ ...wanted, methods, slots, hold }));
  const serve = createCalls({ lane, routes, connections, slots, queues, unread, hold });
  const heard: OnConnection = {
    flooded: (connection) => connections.flooded(connection),
    takenBack: (connection) => connections.takenBack(connection),
  };
  const http1 = speakHttp1(serve, heard);
  const http2 = speakHttp2(serve, heard);

  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true, pauseOnConnect: true }, (socket) => {
    queues.delay();
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    const connection = connections.open(socket);
    if (connection === undefined) return;
    // Until it is its turn, what it sends stays with the kernel.
    connections.begin(connection, () =>
      readPreface(socket, FIRST_BYTES_MS, (isHttp2) => (isHttp2 ? http2 : http1).adopt(connection)),
    );
  });
  server.maxConnections = connectionLimits.total + SPARE_SOCKETS;
  try {
    await listen(server, host, port);
  } catch (error) {
    await lane?.close(0);
    throw error;
  }

  return {
    port: (server.address() as AddressInfo).port,
    paths: [...routes.keys()],
    async close(graceMs) {
      const laneClosed = lane?.close(graceMs);
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      closing.abort(new Error("the server is closing"));
      connections.close();
      http1.close();
      http2.close();
      const timer = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, graceMs);
      await closed;
      clearTimeout(timer);
      await laneClosed;
    },
  };
}

function listen(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen({ port, host, backlog: BACKLOG }, () => {
      server.off("error", reject);
      resolve();
    });
  });
}
