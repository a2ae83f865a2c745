import type { Measured } from "../figures/group.js";
import type { Latencies } from "../figures/latencies.js";
import type { Pace } from "../figures/measure.js";
import type { Peer } from "../peers/peers.js";

/** What a suite is run with. */
export interface Context {
  readonly pace: Pace;
  /** How many connections send at the same time; a suite that does not vary them uses the most. */
  readonly connections: readonly number[];
  /** Microseconds from an answer to the next request of its connection, in the closed loops of facade, audit and stack. */
  readonly pauseUs: number;
  /** Seconds of one run at a constant rate. */
  readonly seconds: number;
  readonly peers: readonly Peer[];
  /** Whether a group of this name is to be measured. */
  readonly wants: (group: string) => boolean;
  /** Takes a group when it is measured. */
  readonly measured: (group: Measured) => void;
  /** Takes latencies when they are measured. */
  readonly timed: (latencies: Latencies) => void;
  /** Takes what could not be measured, and why. */
  readonly skip: (what: string) => void;
}

/** What a group's name says of its closed loop. */
export function loopText({ pauseUs }: Pick<Context, "pauseUs">, connections: number): string {
  const paused = pauseUs === 0 ? "" : `, pauses of ${pauseUs} µs`;
  return `${connections} ${connections === 1 ? "connection" : "connections"}${paused}`;
}

/** The most connections. */
export const mostOf = ({ connections }: Pick<Context, "connections">): number => Math.max(...connections);
