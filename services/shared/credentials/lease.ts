import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { EventKind, type EventSchema, type WatchRequestSchema, WatchService } from "#proto/auth/v1/watch_service_pb.js";
import type { Log } from "../process/log.js";
import type { Credential } from "../rpc/call.js";
import type { Dispatch } from "../rpc/dispatch.js";
import { createOutbox } from "./outbox.js";

/**
 * Permission to use what was kept: held only while auth is known to tell this
 * process of every change.
 */
export interface Lease {
  /** Both clocks agree that it has not run out. */
  held(): boolean;
  /** Milliseconds until it runs out; 0 when it is not held. */
  left(): number;
  /** Gives the lease back, so that nobody waits for it to run out. */
  close(): Promise<void>;
}

/** What happens while a lease is watched over, in the order of the stream. */
export interface LeaseEvents {
  /** Called before an event is acknowledged; a failure throws the stream away, and the event comes again. */
  event(change: Change): Promise<void> | void;
  /** Events were missed: nothing kept may be used any more. */
  reset(seq: number): Promise<void> | void;
}

/** Something changed. */
export interface Change {
  readonly seq: number;
  readonly kind: "key" | "user" | "setting" | "platform" | "key_ring" | "reach";
  readonly id: string;
}

/** What a lease is kept with: the credential holds the scope `internal`. */
export interface LeaseOptions {
  readonly dispatch: Dispatch;
  readonly credential: Credential;
  readonly log: Log;
  readonly events: LeaseEvents;
}

const KINDS: Readonly<Record<EventKind, Change["kind"] | undefined>> = {
  [EventKind.UNSPECIFIED]: undefined,
  [EventKind.KEY]: "key",
  [EventKind.USER]: "user",
  [EventKind.SETTING]: "setting",
  [EventKind.PLATFORM]: "platform",
  [EventKind.KEY_RING]: "key_ring",
  [EventKind.REACH]: "reach",
};

/** How long a goodbye may take to be heard. */
const GOODBYE_MS = 500;

/** How long a stream may be silent before the server has said how long its leases are. */
const FIRST_SILENCE_MS = 3_000;

/**
 * Watches auth's events and keeps a lease, reconnecting for ever until closed.
 *
 * The lease counts from the moment a renewal was sent. It counts by the
 * monotonic clock, which stands still while a virtual machine is suspended, and
 * by the wall clock, which may be set back: it is over when either says so.
 */
export function createLease({ dispatch, credential, log, events }: LeaseOptions): Lease {
  const watcher = randomUUID();
  const closing = new AbortController();
  let closed = false;
  let leave = (): void => undefined;
  let seq = 0;
  let untilMono = 0;
  let untilWall = 0;

  async function follow(): Promise<void> {
    const lost = new AbortController();
    const signal = AbortSignal.any([lost.signal, closing.signal]);
    const outbox = createOutbox<MessageInitShape<typeof WatchRequestSchema>>();
    const sent = new Map<bigint, { readonly mono: number; readonly wall: number }>();
    let n = 0n;
    let silence = FIRST_SILENCE_MS;
    let heard = performance.now();
    let busy = true;
    let timer: NodeJS.Timeout | undefined;
    let period = silence / 3;
    let due = 0;

    const renew = (): void => {
      sent.set(++n, { mono: performance.now(), wall: Date.now() });
      outbox.push({ message: { case: "renew", value: { n, ack: BigInt(seq) } } });
    };
    const tick = (): void => {
      const now = performance.now();
      // Timers come before what arrived: while the loop was busy it was us who did not listen.
      heard += Math.max(0, now - due);
      due = now + period;
      // A connection can be half open, and a listener can hang: either way the stream is of no use.
      if (now - heard > silence) lost.abort(new Error("auth is silent on the watch stream"));
      else if (!busy) renew();
    };
    const every = (ms: number): void => {
      clearInterval(timer);
      period = ms / 3;
      due = performance.now() + period;
      timer = setInterval(tick, period);
      timer.unref();
    };

    leave = () => {
      outbox.push({ message: { case: "goodbye", value: {} } });
      outbox.end();
    };
    every(silence);
    outbox.push({ message: { case: "hello", value: { watcher, since: BigInt(seq) } } });
    try {
      for await (const { message } of dispatch.duplex(WatchService.method.watch, outbox, { credential, signal })) {
        if (closed) continue;
        heard = performance.now();
        busy = true;
        if (message.case === "welcome") {
          if (message.value.reset) {
            const newest = Number(message.value.seq);
            await unlessAborted(events.reset(newest), signal);
            seq = newest;
          }
          silence = message.value.leaseMs;
          every(silence);
          renew();
        } else if (message.case === "lease") {
          const begun = sent.get(message.value.n);
          if (begun !== undefined) {
            untilMono = Math.max(untilMono, begun.mono + message.value.ms);
            untilWall = begun.wall + message.value.ms;
          }
          for (const earlier of sent.keys()) if (earlier <= message.value.n) sent.delete(earlier);
        } else if (message.case === "event") {
          const change = changeOf(message.value);
          if (change !== undefined) await unlessAborted(events.event(change), signal);
          seq = Number(message.value.seq);
          renew();
        }
        busy = false;
      }
    } finally {
      clearInterval(timer);
      outbox.end();
      lost.abort();
    }
  }

  async function run(): Promise<void> {
    while (!closed) {
      try {
        await follow();
      } catch (error) {
        if (!closed) log.debug({ err: error }, "the watch stream broke");
      }
      if (closed) return;
      await sleep(100 + Math.random() * 200, undefined, { signal: closing.signal, ref: false }).catch(() => undefined);
    }
  }
  const running = run();

  const left = (): number => Math.max(0, Math.min(untilMono - performance.now(), untilWall - Date.now()));
  return {
    held: () => performance.now() < untilMono && Date.now() < untilWall,
    left,
    async close() {
      untilMono = 0;
      closed = true;
      leave();
      await Promise.race([running, sleep(GOODBYE_MS, undefined, { ref: false })]);
      closing.abort();
    },
  };
}

function changeOf({ seq, kind, id }: MessageShape<typeof EventSchema>): Change | undefined {
  const word = KINDS[kind];
  return word === undefined ? undefined : { seq: Number(seq), kind: word, id };
}

/** Waits for work that may hang, as long as the signal lets it; leaves nothing behind on the signal. */
async function unlessAborted(work: Promise<void> | void, signal: AbortSignal): Promise<void> {
  if (work === undefined) return;
  signal.throwIfAborted();
  let stop: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => {
    stop = () => reject(signal.reason);
    signal.addEventListener("abort", stop, { once: true });
  });
  try {
    await Promise.race([work, aborted]);
  } finally {
    if (stop !== undefined) signal.removeEventListener("abort", stop);
  }
}
