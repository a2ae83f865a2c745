import { nextEpoch, type Settled } from "./event-order.js";
import type { AuthStore, ProcessRecord } from "./store.js";

/** Time runs a tenth longer for who waits than for who is waited for: clocks do not run alike. */
export const LEASE_MARGIN = 1.1;

const NEVER = { mono: Number.NEGATIVE_INFINITY, wall: Number.NEGATIVE_INFINITY };

/** The share of a lease for which one beat counts. */
const HOLD_OF_LEASE = 1 / 3;

/**
 * The place of this process among the auth processes of one store, and what it
 * sees of the others.
 *
 * Each has a record that it beats in. Who publishes waits for each record until
 * its process has acknowledged the event, or is over: it has not beaten for so
 * long that every lease it gave has run out. No clocks are compared: a process
 * counts its beat from before it sent it, who watches counts from when the beat
 * was first seen. Whose record was removed gives no more leases, even where it
 * only slept: its beat finds nothing, and it has to join again.
 */
export class Processes {
  /** How long a beat counts, in milliseconds. */
  readonly holdMs: number;
  readonly #store: AuthStore;
  readonly #leaseMs: number;
  readonly #seen = new Map<string, { readonly beat: number; readonly at: number }>();
  #own = "";
  #others = 0;
  #acknowledged = 0;
  /** What may not have reached the store yet. */
  #unsaid: Pick<ProcessRecord, "ack" | "acknowledged" | "expired"> | undefined;
  #beaten = NEVER;

  constructor(store: AuthStore, leaseMs: number) {
    this.#store = store;
    this.#leaseMs = leaseMs;
    this.holdMs = leaseMs * HOLD_OF_LEASE;
  }

  /** How many others there were when last looked. */
  get others(): number {
    return this.#others;
  }

  /** Takes a new place. Others wait for this process from now on; it gives leases from its first beat. */
  async join(): Promise<number> {
    const epoch = await nextEpoch(this.#store);
    const nothing = { acknowledged: 0, expired: 0 };
    const record = { _id: String(epoch), beat: 0, lease_ms: this.#leaseMs, ack: 0, ...nothing };
    await this.#store.processes.insertOne(record);
    this.#own = record._id;
    this.#acknowledged = 0;
    this.#unsaid = undefined;
    return epoch;
  }

  /** A beat counts. By the monotonic clock, which may stand still while a machine is suspended, and by the wall clock. */
  held(): boolean {
    const { mono, wall } = this.#beaten;
    return performance.now() - mono < this.holdMs && Date.now() - wall < this.holdMs;
  }

  /** Shows that this process is there; false where another has removed its record. */
  async beat(): Promise<boolean> {
    const own = this.#own;
    const begun = { mono: performance.now(), wall: Date.now() };
    const { ack, ...counts } = this.#unsaid ?? { ack: 0 };
    const update = { $inc: { beat: 1 }, $max: { ack }, ...(ack > 0 && { $set: counts }) };
    const { matchedCount } = await this.#store.processes.updateOne({ _id: own }, update);
    this.#beaten = matchedCount === 1 ? begun : NEVER;
    return matchedCount === 1;
  }

  /** Says that no watcher of this process can act on what was before an event. If that fails, the next beat says it. */
  async acknowledge(seq: number, { acknowledged, expired }: Settled): Promise<void> {
    if (seq <= this.#acknowledged) return;
    this.#acknowledged = seq;
    const said = { ack: seq, acknowledged, expired };
    // Who waits for the number reads the counts with it: never one without the other.
    this.#unsaid = said;
    await this.#store.processes.updateOne({ _id: this.#own, ack: { $lt: seq } }, { $set: said });
    if (this.#unsaid === said) this.#unsaid = undefined;
  }

  /** The records of the others; removes those whose processes are over. */
  async look(): Promise<ProcessRecord[]> {
    const { processes } = this.#store;
    const begun = performance.now();
    const records = (await processes.find({}).toArray()).filter(({ _id }) => _id !== this.#own);
    const now = performance.now();
    const living: ProcessRecord[] = [];
    for (const record of records) {
      const { _id, beat } = record;
      const seen = this.#seen.get(_id);
      if (seen?.beat !== beat) this.#seen.set(_id, { beat, at: now });
      else if (begun - seen.at > overMs(record)) {
        const { deletedCount } = await processes.deleteOne({ _id, beat });
        if (deletedCount === 1) continue;
      }
      living.push(record);
    }
    for (const id of this.#seen.keys()) if (!living.some(({ _id }) => _id === id)) this.#seen.delete(id);
    this.#others = living.length;
    return living;
  }

  /** Gives the place up: nobody waits for this process any more. */
  async leave(): Promise<void> {
    await this.#store.processes.deleteOne({ _id: this.#own });
  }
}

/** The time after its last beat in which a process may still give leases, and these run. */
function overMs({ lease_ms }: ProcessRecord): number {
  return (lease_ms * HOLD_OF_LEASE + lease_ms * LEASE_MARGIN) * LEASE_MARGIN;
}
