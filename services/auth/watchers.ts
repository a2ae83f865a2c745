import type { MessageInitShape } from "@bufbuild/protobuf";
import type { WatchResponseSchema } from "#proto/auth/v1/watch_service_pb.js";
import type { Outbox } from "../shared/credentials/outbox.js";
import { invalidArgument, resourceExhausted } from "../shared/rpc/errors.js";

type Response = MessageInitShape<typeof WatchResponseSchema>;

/** A process that keeps what auth said, and until when it may. */
export interface Watcher {
  /** Its stream; undefined while it has none. */
  outbox: Outbox<Response> | undefined;
  /** By this process's monotonic clock. */
  leaseUntil: number;
  /** The last event that it acknowledged. */
  ack: number;
}

/** How a watcher came to act no longer on what was before: it said so, or its lease ran out. */
export type Settlement = "acknowledged" | "expired";

const MAX_WATCHERS = 1_000;
const FORGET_MS = 60_000;

/** The watchers of one hub, by the ids that they gave themselves. */
export class Watchers {
  readonly #byId = new Map<string, Watcher>();
  readonly #waiting = new Set<() => void>();

  /**
   * Begins a watcher's stream, in place of the one it had.
   *
   * @throws ConnectError invalid_argument for a bad id, resource_exhausted where there are too many.
   */
  join(id: string, outbox: Outbox<Response>, ack: number): Watcher {
    if (id === "" || id.length > 128) throw invalidArgument("watcher must be 1 to 128 characters long");
    this.#forget();
    const known = this.#byId.get(id);
    if (known === undefined && this.#byId.size >= MAX_WATCHERS)
      throw resourceExhausted("auth has too many watchers: try again later");
    known?.outbox?.end();
    // A reconnection does not end the lease given before, and acknowledges only what the watcher says itself.
    const watcher: Watcher = known ?? { outbox, leaseUntil: performance.now(), ack: 0 };
    watcher.outbox = outbox;
    watcher.ack = ack;
    this.#byId.set(id, watcher);
    return watcher;
  }

  /** Notes that a watcher has applied every event up to one. */
  acknowledge(watcher: Watcher, seq: number): void {
    watcher.ack = Math.max(watcher.ack, seq);
    this.#wake();
  }

  /** Notes that a watcher gave its lease back. */
  release(watcher: Watcher): void {
    watcher.leaseUntil = performance.now();
    this.#wake();
  }

  /** Tells everybody who has a stream. */
  tell(response: Response): void {
    for (const { outbox } of this.#byId.values()) outbox?.push(response);
  }

  /** Resolves when each watcher that holds a lease has acknowledged an event, or its lease is over. */
  allSettled(seq: number): Promise<Settlement[]> {
    const now = performance.now();
    const leased = [...this.#byId.values()].filter(({ leaseUntil }) => leaseUntil > now);
    return Promise.all(leased.map((watcher) => this.#settled(watcher, seq)));
  }

  /** Nobody holds a lease. */
  idle(): boolean {
    const now = performance.now();
    return [...this.#byId.values()].every(({ leaseUntil }) => leaseUntil <= now);
  }

  /** Ends every stream; leases run on. */
  close(): void {
    for (const { outbox } of this.#byId.values()) outbox?.end();
  }

  #settled(watcher: Watcher, seq: number): Promise<Settlement> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const done = (how: Settlement): void => {
        clearTimeout(timer);
        this.#waiting.delete(check);
        resolve(how);
      };
      const check = (): void => {
        const left = watcher.leaseUntil - performance.now();
        if (watcher.ack >= seq) done("acknowledged");
        else if (left <= 0) done("expired");
        else {
          clearTimeout(timer);
          timer = setTimeout(check, left + 1);
        }
      };
      this.#waiting.add(check);
      check();
    });
  }

  #wake(): void {
    for (const check of [...this.#waiting]) check();
  }

  #forget(): void {
    const before = performance.now() - FORGET_MS;
    for (const [id, { outbox, leaseUntil }] of this.#byId) {
      if (outbox === undefined && leaseUntil < before) this.#byId.delete(id);
    }
  }
}
