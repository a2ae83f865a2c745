import { EventLog, type LoggedEvent, type WatchEvent } from "./event-log.js";
import type { AuthStore } from "./store.js";

/** How watchers came to act no longer on what was before. */
export interface Settled {
  /** Watchers that acknowledged. */
  readonly acknowledged: number;
  /** Watchers whose lease ran out instead. */
  readonly expired: number;
}

/** Who passes the events on to the watchers of this process. */
export interface EventFollower {
  /** Tells the watchers of the next event, before anything else is told them. */
  event(event: LoggedEvent): void;
  /** Resolves when each watcher of this process that holds a lease has acknowledged an event, or its lease is over. */
  settled(seq: number): Promise<Settled>;
  /** Ends the streams: their watchers may have missed events. */
  lost(): void;
  /** No watcher of this process holds a lease. */
  idle(): boolean;
}

/** The order of all events, whichever auth process they come from. */
export interface EventOrder {
  /** The newest event that this process knows. */
  readonly seq: number;
  /** The events after a number; undefined where some of them are no longer known. */
  after(seq: number): readonly LoggedEvent[] | undefined;
  /** Names who hears of events: called once, before the first. */
  follow(follower: EventFollower): void;
  /** Every other process waits for the watchers of this one: only then may they be given leases. */
  held(): boolean;
  /** Finds out whether the others wait, and sees to it where they do not. */
  confirm(): Promise<boolean>;
  /** Numbers events; resolves with the last number when the watchers of this process are told. */
  append(events: readonly WatchEvent[]): Promise<number>;
  /** Resolves when no watcher of another process can act on what was before an event. */
  settledElsewhere(seq: number): Promise<Settled>;
  /** Deletes events that nobody asks for any more. */
  tend(): Promise<void>;
  close(): Promise<void>;
}

/** Numbers of one epoch, which stands above them. */
const PER_EPOCH = 2 ** 32;
const EPOCH = "epoch";

/** Counts the starts of auth processes: no number is given to two of them. */
export async function nextEpoch({ state }: AuthStore): Promise<number> {
  const record = await state.findOneAndUpdate(
    { _id: EPOCH },
    { $inc: { n: 1 } },
    { upsert: true, returnDocument: "after" },
  );
  return record?.n ?? 1;
}

/** The number before the first event of an epoch. */
export const numberBefore = (epoch: number): number => epoch * PER_EPOCH;

/** The order of the one process that has the store: events live as long as it does. */
export function createOwnOrder(epoch: number, logged: number): EventOrder {
  const log = new EventLog(numberBefore(epoch), logged);
  let follower: EventFollower | undefined;
  return {
    get seq() {
      return log.seq;
    },
    after: (seq) => log.after(seq),
    follow(told) {
      follower = told;
    },
    held: () => true,
    confirm: async () => true,
    async append(events) {
      for (const event of events) follower?.event(log.append(event));
      return log.seq;
    },
    settledElsewhere: async () => ({ acknowledged: 0, expired: 0 }),
    tend: async () => undefined,
    close: async () => undefined,
  };
}
