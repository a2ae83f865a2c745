import { Queue, type QueueLimits } from "../../services/shared/limits/queue.js";
import { BODY_MS } from "./body-reader.js";
import type { Exchange } from "./exchange.js";

/** A listening HTTP server. */
export interface Edge {
  readonly port: number;
  /** Requests that are not answered yet. */
  inFlight(): number;
  /** Connections that are open, with a request or without. */
  connections(): number;
  /** Takes no new connections; every answer from now on closes its connection, and none is closed without one. */
  stopListening(): void;
  /** Cuts every connection. */
  close(): void;
}

/** Where to listen. */
export interface ListenOptions {
  readonly host: string;
  readonly port: number;
  /** Fail where another process listens on the port, instead of sharing it. */
  readonly exclusive: boolean;
  /** Connections at once; one more is closed as it comes. */
  readonly maxConnections?: number | undefined;
  /** How long a body may take from its first piece on, in milliseconds. */
  readonly bodyMs?: number | undefined;
}

/** Serves until closed. @throws Error where the port cannot be had. */
export type Listen = (options: ListenOptions, handle: (exchange: Exchange) => void) => Promise<Edge>;

/** Longest header block that is accepted, in bytes. */
export const MAX_HEADER_BYTES = 16 << 10;

/** Connections at once, each of which costs a file descriptor. */
export const MAX_CONNECTIONS = 16_384;

/** How long a connection may be silent where it is the client's turn, in milliseconds. */
export const IDLE_MS = 10_000;

/** Answers that are postponed until there is time. A client that has its answer asks again, which costs more than the answer: so few in a turn, and no more than four a millisecond in long ones. */
export const POSTPONED: QueueLimits = { sliceMs: 2, perTurn: 16, perMs: 4, waiting: 4_096 };

/** What the exchanges of one server share. */
export class Traffic {
  inFlight = 0;
  /** Every answer from now on closes its connection. */
  closing = false;

  /** @param bodyMs how long a body may take from its first piece on, in milliseconds. */
  constructor(
    readonly bodyMs = BODY_MS,
    readonly late = new Queue(POSTPONED),
  ) {}
}

/** The error of a port that is in use. */
export function portTaken(host: string, port: number): Error {
  return new Error(
    `cannot listen on ${host}:${port}: the port is in use; stop the program that uses it, or choose another port`,
  );
}
