// What is measured together: the same request, answered by several servers.

/** What a variant is: what the least possible is, what we are, or what others are. */
export type Kind = "floor" | "ours" | "peer";

/** One server that answers the request of a group. */
export interface Variant {
  readonly name: string;
  readonly kind: Kind;
  /** The processes that are measured, with all that they started. */
  readonly pids: readonly number[];
  /** Sends requests for so long; resolves to the number of answers. */
  readonly send: (ms: number) => Promise<number>;
  /** Bytes of the answer's body, if it is known. */
  readonly bytes?: number;
}

/** The variants of one request. The first one is the floor. */
export interface Group {
  readonly suite: string;
  readonly name: string;
  readonly variants: readonly Variant[];
}

/** What one variant took in one round. */
export interface Turn {
  /** CPU microseconds of a request, of all processes of the server. */
  readonly cpu: number;
  /** Answers per second, in a closed loop. */
  readonly rate: number;
}

/** A variant as it was measured. */
export interface Row {
  readonly name: string;
  readonly kind: Kind;
  readonly bytes?: number | undefined;
  readonly turns: readonly Turn[];
  /** Memory after the last round, in megabytes. */
  readonly megabytes: number;
}

/** A group as it was measured. */
export interface Measured {
  readonly suite: string;
  readonly name: string;
  readonly rows: readonly Row[];
}

/** The CPU time of each round. */
export const cpuOf = ({ turns }: Row): number[] => turns.map(({ cpu }) => cpu);
