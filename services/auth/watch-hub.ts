import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { WatchRequestSchema, WatchResponseSchema } from "#proto/auth/v1/watch_service_pb.js";
import { createOutbox, type Outbox } from "../shared/credentials/outbox.js";
import { invalidArgument } from "../shared/rpc/errors.js";
import type { LoggedEvent, WatchEvent } from "./event-log.js";
import type { EventFollower, EventOrder, Settled } from "./event-order.js";
import { LEASE_MARGIN } from "./processes.js";
import { type Watcher, Watchers } from "./watchers.js";

/** How everybody came to know of events. */
export interface Published extends Settled {
  /** The last of the events. */
  readonly seq: number;
}

/** Tells watchers of events and knows until when each may use what it keeps. */
export interface WatchHub {
  /** The newest event. Read before a record, it says what the record already takes account of. */
  readonly seq: number;
  /** Serves one watcher's stream, until it ends or the signal is aborted. */
  watch(
    requests: AsyncIterable<MessageShape<typeof WatchRequestSchema>>,
    signal: AbortSignal,
  ): AsyncIterable<MessageInitShape<typeof WatchResponseSchema>>;
  /** Resolves when no watcher, of whichever auth process, can act on what was before. */
  publish(events: readonly WatchEvent[]): Promise<Published>;
  /** Deletes events that nobody asks for any more. */
  tend(): Promise<void>;
  /** Ends every stream. */
  close(): void;
}

/** What a hub is made with. */
export interface WatchHubOptions {
  readonly order: EventOrder;
  readonly leaseMs: number;
  /** How long leases of a process before this one may still run that the order does not know, in milliseconds. */
  readonly fenceMs: number;
}

/** Makes the hub of the watchers of this process. */
export function createWatchHub(options: WatchHubOptions): WatchHub {
  return new Hub(options);
}

type Response = MessageInitShape<typeof WatchResponseSchema>;

class Hub implements WatchHub, EventFollower {
  readonly #order: EventOrder;
  readonly #leaseMs: number;
  readonly #fencedUntil: number;
  readonly #watchers = new Watchers();

  constructor({ order, leaseMs, fenceMs }: WatchHubOptions) {
    this.#order = order;
    this.#leaseMs = leaseMs;
    this.#fencedUntil = performance.now() + fenceMs;
    order.follow(this);
  }

  get seq(): number {
    return this.#order.seq;
  }

  async *watch(
    requests: AsyncIterable<MessageShape<typeof WatchRequestSchema>>,
    signal: AbortSignal,
  ): AsyncIterable<Response> {
    const outbox = createOutbox<Response>();
    let watcher: Watcher | undefined;
    let failure: unknown;
    const listen = async (): Promise<void> => {
      for await (const { message } of requests) {
        if (message.case === "hello" && watcher === undefined) {
          watcher = this.#welcome(message.value.watcher, Number(message.value.since), outbox);
        } else if (message.case === "renew" && watcher?.outbox === outbox) {
          this.#renew(watcher, message.value.n, Number(message.value.ack));
        } else if (message.case === "goodbye" && watcher?.outbox === outbox) {
          this.#watchers.release(watcher);
        } else throw invalidArgument("send hello once, as the first message; after that, only renew and goodbye");
      }
    };
    const end = () => outbox.end();
    signal.addEventListener("abort", end, { once: true });
    listen()
      .catch((error: unknown) => {
        failure = error;
      })
      .finally(end);
    try {
      yield* outbox;
      if (failure !== undefined && !signal.aborted) throw failure;
    } finally {
      signal.removeEventListener("abort", end);
      outbox.end();
      // A broken stream proves nothing about the process behind it: its lease still has to run out.
      if (watcher?.outbox === outbox) watcher.outbox = undefined;
    }
  }

  async publish(events: readonly WatchEvent[]): Promise<Published> {
    const seq = await this.#order.append(events);
    const fencedMs = this.#fencedUntil - performance.now();
    const [here, elsewhere] = await Promise.all([
      this.settled(seq),
      this.#order.settledElsewhere(seq),
      fencedMs > 0 ? sleep(fencedMs) : undefined,
    ]);
    return {
      seq,
      acknowledged: here.acknowledged + elsewhere.acknowledged,
      expired: here.expired + elsewhere.expired,
    };
  }

  event(event: LoggedEvent): void {
    this.#watchers.tell({ message: { case: "event", value: event } });
  }

  async settled(seq: number): Promise<Settled> {
    const outcomes = await this.#watchers.allSettled(seq);
    const acknowledged = outcomes.filter((how) => how === "acknowledged").length;
    return { acknowledged, expired: outcomes.length - acknowledged };
  }

  lost(): void {
    this.#watchers.close();
  }

  idle(): boolean {
    return this.#watchers.idle();
  }

  tend(): Promise<void> {
    return this.#order.tend();
  }

  close(): void {
    this.#watchers.close();
  }

  #welcome(id: string, since: number, outbox: Outbox<Response>): Watcher {
    const watcher = this.#watchers.join(id, outbox, Math.min(since, this.seq));
    const missed = this.#order.after(since);
    const reset = missed === undefined;
    outbox.push({
      message: { case: "welcome", value: { seq: BigInt(this.seq), leaseMs: this.#leaseMs, reset } },
    });
    for (const event of missed ?? []) outbox.push({ message: { case: "event", value: event } });
    return watcher;
  }

  #renew(watcher: Watcher, n: bigint, ack: number): void {
    if (this.#order.held()) {
      watcher.leaseUntil = performance.now() + this.#leaseMs * LEASE_MARGIN;
      watcher.outbox?.push({ message: { case: "lease", value: { n, ms: this.#leaseMs } } });
    }
    this.#watchers.acknowledge(watcher, Math.min(ack, this.seq));
  }
}
