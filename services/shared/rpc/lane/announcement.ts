import type { Socket } from "node:net";
import { isSocketPath } from "./socket-path.js";

// The gRPC port announces the lane in its answers to our own processes: an
// alternative service (RFC 7838) and a secret that is good for as long as this
// process lives. Nobody else is told of either.

/** What the lane's server asks for before it reads anything else of a request. */
export const TOKEN_HEADER = "x-lane-token";
const ALT_SVC = "alt-svc";

/** Alt-Svc names hosts and ports only. */
const SOCKET_HEADER = "x-lane-socket";

/** A lane, as the process that serves it announces it. */
export type OwnLane = { readonly token: string } & (
  | {
      readonly port: number;
      /** It listens on loopback, which no other machine reaches. */
      readonly isLocal: boolean;
    }
  | {
      /** Of a Unix domain socket. */
      readonly path: string;
    }
);

/** A lane, as another process hears of it. */
export type HeardLane = { readonly token: string } & (
  | { readonly host: string; readonly port: number }
  | { readonly path: string }
);

const LOOPBACK = "127.0.0.1";
const SERVICE = /^http%2F1\.1="(127\.0\.0\.1)?:(\d{1,5})"$/;

/** The address that a lane listens on where no other machine is to reach it. */
export const LOCAL_HOST = LOOPBACK;

/** Adds a lane to the headers of an answer, for a process that can reach it. */
export function announce(lane: OwnLane, to: Socket, header: Headers): void {
  if (("path" in lane || lane.isLocal) && !isOnThisMachine(to)) return;
  if ("path" in lane) header.set(SOCKET_HEADER, lane.path);
  else header.set(ALT_SVC, `http%2F1.1="${lane.isLocal ? LOOPBACK : ""}:${lane.port}"`);
  header.set(TOKEN_HEADER, lane.token);
}

/** The lane that an answer of an address announces; undefined if there is none. */
export function heardIn(header: Headers, url: string): HeardLane | undefined {
  const token = header.get(TOKEN_HEADER);
  const { protocol, hostname } = new URL(url);
  // Behind TLS the address is somebody else's, who hands on.
  if (token === null || protocol !== "http:") return undefined;
  const path = header.get(SOCKET_HEADER);
  if (path !== null) return isSocketPath(path) ? { path, token } : undefined;
  const [, host, port] = SERVICE.exec(header.get(ALT_SVC) ?? "") ?? [];
  if (port === undefined) return undefined;
  return { host: host ?? hostname.replace(/^\[|\]$/g, ""), port: Number(port), token };
}

function isOnThisMachine({ remoteAddress = "", localAddress }: Socket): boolean {
  return remoteAddress === localAddress || /^(?:::ffff:)?127\.|^::1$/.test(remoteAddress);
}
