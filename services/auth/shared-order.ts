import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../shared/process/log.js";
import { isDuplicateKey } from "../shared/store/store.js";
import { EventLog, type WatchEvent } from "./event-log.js";
import { type EventFollower, type EventOrder, numberBefore, type Settled } from "./event-order.js";
import { fresh } from "./fresh.js";
import { Processes } from "./processes.js";
import type { AuthStore, EventRecord } from "./store.js";

/** What an order is made with. */
export interface SharedOrderOptions {
  readonly store: AuthStore;
  readonly leaseMs: number;
  /** How many events are kept for watchers that reconnect. */
  readonly logged: number;
  readonly log: Log;
}

/** How often a process looks for events of others, while there are others, in milliseconds. */
const POLL_MS = 20;
/** How often who publishes looks whether the others have acknowledged. */
const WAIT_MS = 5;
/** Events read in one go. */
const BATCH = 1_000;
/** The state that names the last event which may be gone: of all after it none is missing. */
const FLOOR = "events";
const DIGITS = 16;

/** The id of an event: so that ids are in the order of the numbers. */
const idOf = (seq: number): string => String(seq).padStart(DIGITS, "0");

/**
 * The order that several auth processes share, kept in their store.
 *
 * The id of an event is its number, and a process writes a number only after it
 * has read the one before: the insertion of the same number by another fails.
 * So there are no gaps, and who has read a number has read all before it.
 */
export async function openSharedOrder(options: SharedOrderOptions): Promise<SharedOrder> {
  const order = new SharedOrder(options);
  await order.open();
  return order;
}

/** See {@link openSharedOrder}. */
export class SharedOrder implements EventOrder {
  /** It is the first to keep events in this store, after processes that did not: their leases may still run. */
  follows = false;
  readonly #options: SharedOrderOptions;
  readonly #processes: Processes;
  readonly #ending = new AbortController();
  readonly #tail = fresh(() => this.#readNew());
  readonly #look = fresh(() => this.#processes.look());
  readonly #beat = fresh(() => this.#beatOrRejoin());
  #log = new EventLog(0, 1);
  #follower: EventFollower | undefined;
  #appending: Promise<unknown> = Promise.resolve();
  #running: Promise<void> = Promise.resolve();

  constructor(options: SharedOrderOptions) {
    this.#options = options;
    this.#processes = new Processes(options.store, options.leaseMs);
  }

  /** Takes a place among the processes and begins to follow the events. */
  async open(): Promise<void> {
    const epoch = await this.#processes.join();
    const { state } = this.#options.store;
    // Above every number that watchers know from before events were kept.
    const first = { $setOnInsert: { n: numberBefore(epoch) } };
    const before = await state.findOneAndUpdate({ _id: FLOOR }, first, { upsert: true, returnDocument: "before" });
    this.follows = before === null && epoch > 1;
    await this.#load();
    await this.#beat();
    await this.#look();
    this.#running = this.#run();
  }

  get seq(): number {
    return this.#log.seq;
  }

  after(seq: number): ReturnType<EventLog["after"]> {
    return this.#log.after(seq);
  }

  follow(follower: EventFollower): void {
    this.#follower = follower;
  }

  held(): boolean {
    return this.#processes.held();
  }

  async confirm(): Promise<boolean> {
    // On a busy machine a beat may take longer than it counts: the next one is the answer then.
    const until = performance.now() + this.#options.leaseMs;
    for (;;) {
      await this.#beat();
      if (this.held() || performance.now() >= until) return this.held();
      // One that fails at once must not be asked for again at once.
      await sleep(WAIT_MS);
    }
  }

  append(events: readonly WatchEvent[]): Promise<number> {
    const appended = this.#appending.then(() => this.#append(events));
    this.#appending = appended.catch(() => undefined);
    return appended;
  }

  async settledElsewhere(seq: number): Promise<Settled> {
    const waitedFor = new Set<string>();
    for (;;) {
      const others = await this.#look();
      if (others.every(({ ack }) => ack >= seq)) {
        const gone = [...waitedFor].filter((id) => others.every(({ _id }) => _id !== id)).length;
        const sum = (key: keyof Settled): number => others.reduce((all, other) => all + other[key], 0);
        return { acknowledged: sum("acknowledged"), expired: sum("expired") + gone };
      }
      for (const { _id } of others) waitedFor.add(_id);
      await sleep(WAIT_MS);
    }
  }

  async tend(): Promise<void> {
    const { store, logged } = this.#options;
    const last = this.seq - logged;
    // First said, then done: who inserts an event looks afterwards whether its number was still to be given.
    await store.state.updateOne({ _id: FLOOR }, { $max: { n: last } });
    await store.events.deleteMany({ _id: { $lte: idOf(last) } });
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#running;
    // Otherwise the others wait until the leases that this process gave are over.
    if (this.#follower?.idle() !== false) await this.#processes.leave().catch(() => undefined);
  }

  async #run(): Promise<void> {
    const { signal } = this.#ending;
    const beatMs = this.#processes.holdMs / 3;
    let beaten = performance.now();
    while (!signal.aborted) {
      await sleep(this.#processes.others > 0 ? Math.min(POLL_MS, beatMs) : beatMs, undefined, {
        signal,
        ref: false,
      }).catch(() => undefined);
      if (signal.aborted) return;
      try {
        if (performance.now() - beaten < beatMs) await this.#tail();
        else {
          beaten = performance.now();
          await this.#beat();
          await this.#look();
        }
      } catch (error) {
        this.#options.log.debug({ err: error }, "the events of other auth processes cannot be read");
      }
    }
  }

  /** A process that cannot read events does not beat either: it would be waited for without end. */
  async #beatOrRejoin(): Promise<void> {
    await this.#tail();
    if (await this.#processes.beat()) return;
    this.#options.log.warn("other auth processes took this one for dead: it joins them again");
    await this.#processes.join();
    await this.#load();
    await this.#processes.beat();
  }

  /** Begins with the newest events that are kept; watchers begin again, for they may have missed some. */
  async #load(): Promise<void> {
    const { store, logged } = this.#options;
    const floor = await this.#floor();
    const newest = { sort: { _id: -1 }, limit: Math.min(BATCH, logged) } as const;
    const records = (await store.events.find({ _id: { $gt: idOf(floor) } }, newest).toArray()).reverse();
    const [oldest] = records;
    const log = new EventLog(oldest === undefined ? floor : Number(oldest._id) - 1, logged);
    for (const record of records) log.append(record);
    this.#log = log;
    this.#follower?.lost();
    this.#settle();
  }

  async #floor(): Promise<number> {
    return (await this.#options.store.state.findOne({ _id: FLOOR }))?.n ?? 0;
  }

  async #readNew(): Promise<void> {
    for (;;) {
      const after = { _id: { $gt: idOf(this.seq) } };
      const records = await this.#options.store.events.find(after, { sort: { _id: 1 }, limit: BATCH }).toArray();
      if (this.#deliver(records)) this.#settle();
      // This process was away for longer than events are kept.
      if (Number(records.at(-1)?._id ?? 0) > this.seq) return this.#load();
      if (records.length < BATCH) return;
    }
  }

  /** Tells the watchers of this process; whether there was anything new. */
  #deliver(records: readonly EventRecord[]): boolean {
    const before = this.seq;
    for (const record of records) {
      if (Number(record._id) === this.seq + 1) this.#follower?.event(this.#log.append(record));
    }
    return this.seq > before;
  }

  /** Acknowledges to the others, once the watchers of this process have. */
  #settle(): void {
    const seq = this.seq;
    const settling = this.#follower?.settled(seq) ?? Promise.resolve({ acknowledged: 0, expired: 0 });
    settling
      .then((how) => this.#processes.acknowledge(seq, how))
      .catch((err: unknown) => this.#options.log.debug({ err }, "an event is acknowledged with the next beat"));
  }

  async #append(events: readonly WatchEvent[]): Promise<number> {
    const { store } = this.#options;
    let numbered = this.seq;
    for (let from = 0; from < events.length; ) {
      const last = this.seq;
      const batch = events.slice(from, from + BATCH);
      const records = batch.map(({ kind, id }, i) => ({ _id: idOf(last + 1 + i), kind, id }));
      try {
        await store.events.insertMany(records);
      } catch (error) {
        if (!isDuplicateKey(error)) throw error;
        // Another process was faster. What was written of the batch is written again: it says the same twice.
        await this.#tail();
        continue;
      }
      if (this.#deliver(records)) this.#settle();
      if (this.seq < last + records.length) await this.#tail();
      // This process slept before the insertion, and the others were past that number.
      if ((await this.#floor()) > last) {
        await this.#load();
        continue;
      }
      from += batch.length;
      numbered = last + batch.length;
    }
    return numbered;
  }
}
