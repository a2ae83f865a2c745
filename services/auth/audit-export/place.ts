import { isDuplicateKey } from "../../shared/store/store.js";
import { endOfAudit } from "../audit-end.js";
import { auditIdOf } from "../audit-record-doc.js";
import type { AuditReceiverRecord, AuthStore } from "../store.js";
import { SEND_MS } from "./receiver.js";

/** How long a process may send without a word in the store: longer than a delivery takes. */
const HOLD_MS = 4 * SEND_MS;

/** How far the export to a receiver is. */
export type Reached = Pick<AuditReceiverRecord, "after" | "since">;

/** Where the export to a receiver is, and which process does it. */
export class ReceiverPlace {
  readonly #store: Pick<AuthStore, "audit" | "auditReceivers" | "state">;
  readonly #id: string;
  readonly #holder: string;
  readonly #isAlone: boolean;
  /** By performance.now(): until when this process surely holds the place. */
  #until = 0;
  #reached: Reached | undefined;

  constructor(
    store: Pick<AuthStore, "audit" | "auditReceivers" | "state">,
    id: string,
    { holder, isAlone }: { readonly holder: string; readonly isAlone: boolean },
  ) {
    this.#store = store;
    this.#id = id;
    this.#holder = holder;
    this.#isAlone = isAlone;
  }

  /** How far the receiver is; undefined while another process sends. */
  async hold(): Promise<Reached | undefined> {
    const now = performance.now();
    if (now < this.#until - HOLD_MS / 2) return this.#reached;
    this.#reached = (await this.#take()) ?? (await this.#make());
    if (this.#reached !== undefined) this.#until = now + HOLD_MS;
    return this.#reached;
  }

  /** The receiver has all records up to this one. */
  async advance(after: string): Promise<void> {
    const now = performance.now();
    const { matchedCount } = await this.#store.auditReceivers.updateOne(
      { _id: this.#id, holder: this.#holder },
      { $set: { after, until: untilNow() } },
    );
    this.#until = matchedCount === 0 ? 0 : now + HOLD_MS;
    if (this.#reached !== undefined) this.#reached = { ...this.#reached, after };
  }

  /** Lets another process send at once. */
  async leave(): Promise<void> {
    const own = { _id: this.#id, holder: this.#holder };
    await this.#store.auditReceivers.updateOne(own, { $set: { until: new Date(0) } });
  }

  /** Takes the place if it is this process's, or nobody's any more. */
  async #take(): Promise<AuditReceiverRecord | null> {
    const free = { $or: [{ holder: this.#holder }, { until: { $lt: new Date() } }] };
    return this.#store.auditReceivers.findOneAndUpdate(
      { _id: this.#id, ...(!this.#isAlone && free) },
      { $set: { holder: this.#holder, until: untilNow() } },
      { returnDocument: "after" },
    );
  }

  async #make(): Promise<AuditReceiverRecord | undefined> {
    const { number } = await endOfAudit(this.#store);
    const since = number === 0n ? "" : auditIdOf(number);
    const record = { _id: this.#id, holder: this.#holder, until: untilNow(), after: "", since };
    try {
      await this.#store.auditReceivers.insertOne(record);
      return record;
    } catch (error) {
      if (isDuplicateKey(error)) return undefined;
      throw error;
    }
  }
}

function untilNow(): Date {
  return new Date(Date.now() + HOLD_MS);
}
