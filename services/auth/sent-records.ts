import type { AuthStore } from "./store.js";

/** Ids of one generation; two are remembered, which is more than any call brings. */
const GENERATION = 4_096;
/** How far back a record is looked for that was sent before, in records. */
const LOOKED = 100_000;

/** Which records were written lately, by the ids that their senders gave them. */
export class SentRecords {
  readonly #audit: AuthStore["audit"];
  readonly #idOf: (number: bigint) => string;
  // Two maps of which the older one is dropped whole: to delete the oldest of one map, entry by entry, costs more.
  #young = new Map<string, bigint>();
  #old = new Map<string, bigint>();

  constructor(audit: AuthStore["audit"], idOf: (number: bigint) => string) {
    this.#audit = audit;
    this.#idOf = idOf;
  }

  /** The number of a record that was written; undefined if none is remembered. */
  numberOf(sentId: string): bigint | undefined {
    return this.#young.get(sentId) ?? this.#old.get(sentId);
  }

  /** Remembers a record. */
  add(sentId: string, number: bigint): void {
    this.#young.set(sentId, number);
    if (this.#young.size < GENERATION) return;
    this.#old = this.#young;
    this.#young = new Map();
  }

  /** Looks in the store for records with these ids, among those after a number. */
  async look(sentIds: readonly string[], after: bigint, last: bigint): Promise<void> {
    const from = after > last - BigInt(LOOKED) ? after : last - BigInt(LOOKED);
    const unknown = sentIds.filter((id) => this.numberOf(id) === undefined);
    if (unknown.length === 0 || from >= last) return;
    const wanted = { _id: { $gt: this.#idOf(from < 0n ? 0n : from) }, sent_id: { $in: unknown } };
    const found = this.#audit.find(wanted, { sort: { _id: 1 }, projection: { sent_id: 1 } });
    for (const { _id, sent_id } of await found.toArray()) if (sent_id !== undefined) this.add(sent_id, BigInt(_id));
  }
}
