import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { WatchRequestSchema, WatchResponseSchema } from "#proto/auth/v1/watch_service_pb.js";
import { createOutbox, type Outbox } from "../shared/credentials/outbox.js";
import { invalidArgument, unavailable } from "../shared/rpc/errors.js";
import { EventLog, type WatchEvent } from "./event-log.js";
import type { Leadership } from "./leadership.js";
import { type Watcher, Watchers } from "./watchers.js";

/** How everybody came to know of events. */
export interface Published {
  /** The last of the events. */
  readonly seq: number;
  /** Watchers that acknowledged. */
  readonly acknowledged: number;
  /** Watchers whose lease ran out instead. */
  readonly expired: number;
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
  /** Resolves when no watcher of this process can act on what was before: for what is written, whoever leads. */
  tell(events: readonly WatchEvent[]): Promise<Published>;
  /**
   * Resolves when no watcher can act on what was before.
   *
   * @throws ConnectError unavailable, where another process has taken over.
   */
  publish(events: readonly WatchEvent[]): Promise<Published>;
  /** Ends every stream. */
  close(): void;
}

/** What a hub is made with. */
export interface WatchHubOptions {
  readonly leadership: Leadership;
  readonly leaseMs: number;
  /** How long leases of a process before this one may still run, in milliseconds. */
  readonly fenceMs: number;
  /** How many events are kept for watchers that reconnect. */
  readonly logged?: number;
}

/** A lease runs a tenth longer here than there, for clocks that do not run alike. */
export const LEASE_MARGIN = 1.1;

/** Makes the hub of the process that leads. */
export function createWatchHub(options: WatchHubOptions): WatchHub {
  return new Hub(options);
}

type Response = MessageInitShape<typeof WatchResponseSchema>;

class Hub implements WatchHub {
  readonly #leadership: Leadership;
  readonly #leaseMs: number;
  readonly #fencedUntil: number;
  readonly #log: EventLog;
  readonly #watchers = new Watchers();

  constructor({ leadership, leaseMs, fenceMs, logged = 10_000 }: WatchHubOptions) {
    this.#leadership = leadership;
    this.#leaseMs = leaseMs;
    this.#fencedUntil = performance.now() + fenceMs;
    this.#log = new EventLog(leadership.epoch, logged);
  }

  get seq(): number {
    return this.#log.seq;
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

  async tell(events: readonly WatchEvent[]): Promise<Published> {
    for (const event of events) {
      this.#watchers.tell({ message: { case: "event", value: this.#log.append(event) } });
    }
    const upTo = this.seq;
    const fencedMs = this.#fencedUntil - performance.now();
    const [outcomes] = await Promise.all([this.#watchers.allSettled(upTo), fencedMs > 0 ? sleep(fencedMs) : undefined]);
    const acknowledged = outcomes.filter((how) => how === "acknowledged").length;
    return { seq: upTo, acknowledged, expired: outcomes.length - acknowledged };
  }

  async publish(events: readonly WatchEvent[]): Promise<Published> {
    const published = await this.tell(events);
    if (await this.#leadership.confirm()) return published;
    this.close();
    throw unavailable("a newer process replaced this one: try again");
  }

  close(): void {
    this.#watchers.close();
  }

  #welcome(id: string, since: number, outbox: Outbox<Response>): Watcher {
    const watcher = this.#watchers.join(id, outbox, Math.min(since, this.seq));
    const missed = this.#log.after(since);
    const reset = missed === undefined;
    outbox.push({
      message: { case: "welcome", value: { seq: BigInt(this.seq), leaseMs: this.#leaseMs, reset } },
    });
    for (const event of missed ?? []) outbox.push({ message: { case: "event", value: event } });
    return watcher;
  }

  #renew(watcher: Watcher, n: bigint, ack: number): void {
    if (this.#leadership.held()) {
      watcher.leaseUntil = performance.now() + this.#leaseMs * LEASE_MARGIN;
      watcher.outbox?.push({ message: { case: "lease", value: { n, ms: this.#leaseMs } } });
    } else {
      void this.#leadership.confirm().then(
        (leads) => leads || this.close(),
        () => undefined,
      );
    }
    this.#watchers.acknowledge(watcher, Math.min(ack, this.seq));
  }
}
