import type { Log } from "../shared/process/log.js";
import type { Peers } from "../shared/rpc/peers.js";
import type { Apart } from "./apart.js";
import type { SpanQuota } from "./quota.js";
import type { TraceStore } from "./store.js";

/** What every command of the traces service works with. */
export interface Context {
  readonly store: TraceStore;
  /** Reaches core-objects, which says whose agents a caller can manage. */
  readonly peers: Peers;
  readonly log: Log;
  /** Days that spans are kept after they arrive. */
  readonly retentionDays: number;
  /** What the spans of one user may add up to. */
  readonly quota: SpanQuota;
  /** Keeps the spans of long exports. */
  readonly apart: Apart;
}
