// The edge on µWebSockets.js, which is loaded with this file: edges.ts loads it where it is wanted.

import type { HttpResponse, TemplatedApp, us_listen_socket } from "uWebSockets.js";
import { type Edge, type ListenOptions, MAX_CONNECTIONS, MAX_HEADER_BYTES, portTaken, Traffic } from "./edge.js";
import type { Exchange } from "./exchange.js";
import { UwsExchange } from "./uws-exchange.js";

// Read once, when it loads.
process.env.UWS_HTTP_MAX_HEADERS_SIZE ??= String(MAX_HEADER_BYTES);
const { default: uws } = await import("uWebSockets.js");
/** Leaves out the header that names the server: Loop::setSilent of µWebSockets, which the package's types do not export. */
(uws as unknown as { _cfg(word: "silent"): void })._cfg("silent");

/** LIBUS_LISTEN_EXCLUSIVE_PORT of µSockets, which the package's types do not export. */
const EXCLUSIVE_PORT = 1;

/**
 * Sockets that listen, between which the kernel divides who comes: µSockets lets
 * 512 wait at each, and who finds no place there comes again after a second.
 */
const LISTENERS = 4;

/** How often another free port is asked for, where a program was given the one that was just closed. */
const TRIES = 5;

/** Serves on µWebSockets.js: see Listen. */
export async function listen(
  { host, port, exclusive, maxConnections = MAX_CONNECTIONS, bodyMs }: ListenOptions,
  handle: (exchange: Exchange) => void,
): Promise<Edge> {
  const traffic = new Traffic(bodyMs);
  const app = uws.App();
  let connections = 0;
  // Told of every connection that comes (1) and goes (-1).
  const count = (res: HttpResponse, change: number): void => {
    connections += change;
    if (change === 1 && connections > maxConnections) res.close();
  };
  app.filter(count as Parameters<TemplatedApp["filter"]>[0]);
  app.any("/*", (res, req) => handle(new UwsExchange(res, req, traffic)));
  const sockets = await listenAt(app, host, port, exclusive);
  const actual = uws.us_socket_local_port(sockets[0] as never);
  return edgeOf(app, actual, sockets, traffic, () => connections);
}

/** Opens the sockets that listen, all on one port. */
async function listenAt(
  app: TemplatedApp,
  host: string,
  port: number,
  exclusive: boolean,
): Promise<us_listen_socket[]> {
  for (let left = port === 0 ? TRIES : 1; ; left--) {
    // Whether another has the port is told by who wants it alone: sockets that share it do not mind.
    const first = await open(app, host, port, exclusive);
    const actual = uws.us_socket_local_port(first as never);
    uws.us_listen_socket_close(first);
    const sockets: us_listen_socket[] = [];
    try {
      while (sockets.length < LISTENERS) sockets.push(await open(app, host, actual, false));
      return sockets;
    } catch (error) {
      for (const socket of sockets) uws.us_listen_socket_close(socket);
      if (left === 1) throw error;
    }
  }
}

function open(app: TemplatedApp, host: string, port: number, exclusive: boolean): Promise<us_listen_socket> {
  return new Promise((resolve, reject) => {
    const onListen = (socket: us_listen_socket | false): void => {
      if (socket !== false) resolve(socket);
      else reject(portTaken(host, port));
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

function edgeOf(
  app: TemplatedApp,
  port: number,
  sockets: us_listen_socket[],
  traffic: Traffic,
  connections: () => number,
): Edge {
  const stopListening = (): void => {
    traffic.closing = true;
    for (const socket of sockets.splice(0)) uws.us_listen_socket_close(socket);
  };
  return {
    port,
    inFlight: () => traffic.inFlight,
    connections,
    stopListening,
    close() {
      stopListening();
      app.close();
    },
  };
}
