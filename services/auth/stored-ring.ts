import { aborted } from "../shared/rpc/errors.js";
import { isDuplicateKey } from "../shared/store/store.js";
import type { Keys } from "./key-ring-steps.js";
import type { AuthStore, KeyRingRecord, RingName } from "./store.js";

/** What a step changes of a ring; undefined for nothing. What it throws is thrown, and nothing is changed. */
export type RingStep = (record: KeyRingRecord) => Promise<Change | undefined> | Change | undefined;

type Change = Partial<Pick<KeyRingRecord, "keys" | "revoked">>;

/** The record of a ring, which several processes change. */
export interface StoredRing {
  read(): Promise<KeyRingRecord>;
  /** Makes the record unless there is one. */
  create(first: () => Promise<Keys>, now: number): Promise<void>;
  /**
   * One atomic change, computed again if another came before it.
   *
   * @returns the ring as it is then.
   * @throws ConnectError aborted, if others come before it again and again.
   */
  change(step: RingStep): Promise<KeyRingRecord>;
}

/** How often a change is tried that others come before. */
const ATTEMPTS = 10;

/** Reads and changes the record of a ring. */
export function createStoredRing({ keyRings }: AuthStore, _id: RingName): StoredRing {
  async function read(): Promise<KeyRingRecord> {
    const record = await keyRings.findOne({ _id });
    if (record === null) throw new Error(`the store does not have the ring ${_id}: restart the service`);
    return record;
  }

  return {
    read,
    async create(first, now) {
      if ((await keyRings.findOne({ _id })) !== null) return;
      try {
        // Beginning with the time, a ring that is made again is newer than the one before.
        await keyRings.insertOne({ _id, revision: now, keys: await first(), revoked: [] });
      } catch (error) {
        // Another process made it.
        if (!isDuplicateKey(error)) throw error;
      }
    },
    async change(step) {
      for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
        const record = await read();
        const change = await step(record);
        if (change === undefined) return record;
        const { matchedCount } = await keyRings.updateOne(
          { _id, revision: record.revision },
          { $set: change, $inc: { revision: 1 } },
        );
        if (matchedCount === 1) return { ...record, ...change, revision: record.revision + 1 };
      }
      throw aborted(`other processes are changing the ring ${_id}: nothing was changed, try again`);
    },
  };
}
