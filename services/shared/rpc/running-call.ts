import type { Share } from "../limits/share.js";
import type { Authenticated, Call, Caller, Credential, Incoming } from "./call.js";

/** One step in front of a method. It gives a promise only if it waits. @throws ConnectError, with which the call is refused. */
export type Step = (call: RunningCall) => unknown;

/** The state of one call: what its steps have found out, and what its method is told. */
export class RunningCall implements Call {
  readonly credential: Credential;
  readonly deadline: number | undefined;
  readonly traceparent: string | undefined;
  readonly admitted: Authenticated | undefined;
  /** Undefined until the step `caller` has passed. */
  caller!: Caller;
  assertion = "";
  /** The share that it is counted for; undefined if it is not counted, or not begun. */
  share: Share | undefined;
  /** The method was reached. */
  hasBegun = false;
  /** The index of the step that is next. */
  next = 0;
  /** By performance.now(). */
  readonly startedAt = performance.now();

  constructor(
    readonly request: unknown,
    private readonly incoming: Incoming,
  ) {
    this.credential = incoming.credential;
    this.deadline = incoming.deadline;
    this.traceparent = incoming.traceparent;
    this.admitted = incoming.admitted;
  }

  /** Asked for only if the method asks: it is the dearest part of a call. */
  get signal(): AbortSignal {
    return this.incoming.signal;
  }

  get append(): ((fields: Uint8Array) => void) | undefined {
    return this.incoming.append;
  }

  /** Gives back what it has of its caller's share. */
  leave(): void {
    if (this.share === undefined) return;
    this.share.active--;
    this.share = undefined;
  }
}
