import type { Socket } from "node:net";

// The gRPC port announces the lane in its answers to our own processes: an
// alternative service (RFC 7838) and a secret that is good for as long as this
// process lives. Nobody else is told of either.

/** What the lane's server asks for before it reads anything else of a request. */
export const TOKEN_HEADER = "x-lane-token";
const ALT_SVC = "alt-svc";

/** A lane, as the process that serves it announces it. */
export interface OwnLane {
  readonly port: number;
  readonly token: string;
  /** It listens on loopback, which no other machine reaches. */
  readonly isLocal: boolean;
}

/** A lane, as another process hears of it. */
export interface HeardLane {
  readonly host: string;
  readonly port: number;
  readonly token: string;
}

const LOOPBACK = "127.0.0.1";
const SERVICE = /^http%2F1\.1="(127\.0\.0\.1)?:(\d{1,5})"$/;

/** The address that a lane listens on where no other machine is to reach it. */
export const LOCAL_HOST = LOOPBACK;

/** Adds a lane to the headers of an answer, for a process that can reach it. */
export function announce({ port, token, isLocal }: OwnLane, to: Socket, header: Headers): void {
  if (isLocal && !isOnThisMachine(to)) return;
  header.set(ALT_SVC, `http%2F1.1="${isLocal ? LOOPBACK : ""}:${port}"`);
  header.set(TOKEN_HEADER, token);
}

/** The lane that an answer of an address announces; undefined if there is none. */
export function heardIn(header: Headers, url: string): HeardLane | undefined {
  const token = header.get(TOKEN_HEADER);
  const [, host, port] = SERVICE.exec(header.get(ALT_SVC) ?? "") ?? [];
  const { protocol, hostname } = new URL(url);
  // Behind TLS the address is somebody else's, who hands on.
  if (token === null || port === undefined || protocol !== "http:") return undefined;
  return { host: host ?? hostname.replace(/^\[|\]$/g, ""), port: Number(port), token };
}

function isOnThisMachine({ remoteAddress = "", localAddress }: Socket): boolean {
  return remoteAddress === localAddress || /^(?:::ffff:)?127\.|^::1$/.test(remoteAddress);
}
