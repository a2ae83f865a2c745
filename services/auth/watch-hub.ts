import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  EventKind,
  EventSchema,
  WatchRequestSchema,
  WatchResponseSchema,
} from "#proto/auth/v1/watch_service_pb.js";
import { createOutbox, type Outbox } from "../shared/credentials/lease-outbox.js";
import { invalidArgument, resourceExhausted, unavailable } from "../shared/rpc/errors.js";
import type { Tenure } from "./tenure.js";

/** Something that changed. */
export interface Happening {
  readonly kind: EventKind;
  readonly id: string;
}

/** How everybody came to know. */
export interface Published {
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
  watch(
    requests: AsyncIterable<MessageShape<typeof WatchRequestSchema>>,
    signal: AbortSignal,
  ): AsyncIterable<MessageInitShape<typeof WatchResponseSchema>>;
  /**
   * Resolves when no watcher can act on what was before.
   *
   * @throws ConnectError unavailable, where another process has taken over.
   */
  publish(happenings: readonly Happening[]): Promise<Published>;
  close(): void;
}

export interface WatchHubOptions {
  readonly tenure: Tenure;
  readonly leaseMs: number;
  /** How long leases of a process before this one may still run, in milliseconds. */
  readonly fenceMs: number;
  /** How many events are kept for watchers that reconnect. */
  readonly logged?: number;
}

/** A lease runs a tenth longer here than there, for clocks that do not run alike. */
export const LEASE_MARGIN = 1.1;

const MAX_WATCHERS = 1_000;
const FORGET_MS = 60_000;
/** Sequence numbers of one process; the epoch stands above them. */
const PER_EPOCH = 2 ** 32;

type Response = MessageInitShape<typeof WatchResponseSchema>;

interface Watcher {
  outbox: Outbox<Response> | undefined;
  /** By this process's monotonic clock. */
  leaseUntil: number;
  ack: number;
}

export function createWatchHub({ tenure, leaseMs, fenceMs, logged = 10_000 }: WatchHubOptions): WatchHub {
  const watchers = new Map<string, Watcher>();
  const log: MessageInitShape<typeof EventSchema>[] = [];
  const waiting = new Set<() => void>();
  const fencedUntil = performance.now() + fenceMs;
  const first = tenure.epoch * PER_EPOCH;
  let forgotten = first;
  let seq = first;

  function welcome(id: string, since: number, outbox: Outbox<Response>): Watcher {
    if (id === "" || id.length > 128) throw invalidArgument("watcher has to be 1 to 128 characters long");
    forget();
    const known = watchers.get(id);
    if (known === undefined && watchers.size >= MAX_WATCHERS) throw resourceExhausted("too many watchers");
    known?.outbox?.end();
    // A reconnection does not end the lease given before, and acknowledges only what the watcher says itself.
    const watcher: Watcher = known ?? { outbox, leaseUntil: performance.now(), ack: 0 };
    watcher.outbox = outbox;
    watcher.ack = Math.min(since, seq);
    watchers.set(id, watcher);
    const reset = since < forgotten || since > seq;
    outbox.push({ message: { case: "welcome", value: { seq: BigInt(seq), leaseMs, reset } } });
    if (!reset) {
      for (const event of log) if (Number(event.seq) > since) outbox.push({ message: { case: "event", value: event } });
    }
    return watcher;
  }

  function renew(watcher: Watcher, n: bigint, ack: number): void {
    watcher.ack = Math.max(watcher.ack, Math.min(ack, seq));
    if (tenure.held()) {
      watcher.leaseUntil = performance.now() + leaseMs * LEASE_MARGIN;
      watcher.outbox?.push({ message: { case: "lease", value: { n, ms: leaseMs } } });
    } else {
      void tenure.confirm().then(
        (still) => still || close(),
        () => undefined,
      );
    }
    wake();
  }

  function wake(): void {
    for (const check of [...waiting]) check();
  }

  async function* watch(
    requests: AsyncIterable<MessageShape<typeof WatchRequestSchema>>,
    signal: AbortSignal,
  ): AsyncIterable<Response> {
    const outbox = createOutbox<Response>();
    let watcher: Watcher | undefined;
    let failure: unknown;
    const listen = async (): Promise<void> => {
      for await (const { message } of requests) {
        if (message.case === "hello" && watcher === undefined) {
          watcher = welcome(message.value.watcher, Number(message.value.since), outbox);
        } else if (message.case === "renew" && watcher?.outbox === outbox) {
          renew(watcher, message.value.n, Number(message.value.ack));
        } else if (message.case === "goodbye" && watcher?.outbox === outbox) {
          watcher.leaseUntil = performance.now();
          wake();
        } else throw invalidArgument("say hello first, and once; then renew");
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

  /** Resolves when the watcher has acknowledged, or when its lease is over. */
  function settled(watcher: Watcher, upTo: number): Promise<"acknowledged" | "expired"> {
    return new Promise((resolve) => {
      let timer: NodeJS.Timeout | undefined;
      const done = (how: "acknowledged" | "expired"): void => {
        clearTimeout(timer);
        waiting.delete(check);
        resolve(how);
      };
      const check = (): void => {
        const left = watcher.leaseUntil - performance.now();
        if (watcher.ack >= upTo) done("acknowledged");
        else if (left <= 0) done("expired");
        else {
          clearTimeout(timer);
          timer = setTimeout(check, left + 1);
        }
      };
      waiting.add(check);
      check();
    });
  }

  async function publish(happenings: readonly Happening[]): Promise<Published> {
    for (const { kind, id } of happenings) {
      const event = { seq: BigInt(++seq), kind, id };
      log.push(event);
      for (const { outbox } of watchers.values()) outbox?.push({ message: { case: "event", value: event } });
    }
    while (log.length > logged) forgotten = Number((log.shift() as { seq: bigint }).seq);
    const upTo = seq;
    const now = performance.now();
    const fenced = fencedUntil - now;
    const leased = [...watchers.values()].filter(({ leaseUntil }) => leaseUntil > now);
    const [outcomes] = await Promise.all([
      Promise.all(leased.map((watcher) => settled(watcher, upTo))),
      fenced > 0 ? sleep(fenced) : undefined,
    ]);
    if (!(await tenure.confirm())) {
      close();
      throw unavailable("this process was replaced by a newer one: try again");
    }
    const acknowledged = outcomes.filter((how) => how === "acknowledged").length;
    return { seq: upTo, acknowledged, expired: outcomes.length - acknowledged };
  }

  function forget(): void {
    const before = performance.now() - FORGET_MS;
    for (const [id, { outbox, leaseUntil }] of watchers) {
      if (outbox === undefined && leaseUntil < before) watchers.delete(id);
    }
  }

  function close(): void {
    for (const { outbox } of watchers.values()) outbox?.end();
  }

  return {
    get seq() {
      return seq;
    },
    watch,
    publish,
    close,
  };
}
