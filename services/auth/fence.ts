import { unavailable } from "../shared/rpc/errors.js";
import type { DocCollection, Filter, UpdateFilter } from "../shared/store/store.js";
import type { Leadership } from "./leadership.js";
import type { ClaimedRecord } from "./store.js";

/**
 * Keeps a process that a newer one has replaced from writing.
 *
 * The newer one marks every record that it vouches for with its epoch before it
 * says anything of it, and every change carries the condition that the record is
 * not marked by a newer one. Both are one atomic step of one document, whatever
 * was frozen in between: a change by the older either comes first, and then the
 * newer vouches for what it made of the record, or it changes nothing.
 */
export interface Fence {
  /** What new records are marked with. */
  readonly epoch: number;
  /** The condition that the filter of every change carries. */
  readonly unclaimed: { readonly term: { readonly $not: { readonly $gt: number } } };
  /** Asked before anything is written. @throws ConnectError unavailable, where a newer process took over. */
  check(): Promise<void>;
  /** Reads a record that this process vouches for from now on; null where there is none. */
  claim<T extends ClaimedRecord>(records: DocCollection<T>, id: string): Promise<T | null>;
  /** Whether a newer process vouches for a record: why a change of it found nothing. */
  isLost(record: ClaimedRecord | null): boolean;
}

/** Fences the writes of the process that leads, or led. */
export function createFence({ epoch, confirm }: Pick<Leadership, "epoch" | "confirm">): Fence {
  const unclaimed = { term: { $not: { $gt: epoch } } };
  /** Before the first epoch there was nobody whose writes could come late. */
  const termOf = ({ term = 1 }: ClaimedRecord): number => term;

  return {
    epoch,
    unclaimed,
    async check() {
      if (!(await confirm())) throw replaced();
    },
    async claim<T extends ClaimedRecord>(records: DocCollection<T>, id: string) {
      const byId = { _id: id } as Filter<T>;
      const found = await records.findOne(byId);
      if (found === null || termOf(found) >= epoch) return found;
      // Who was replaced marks nothing; it gives no leases either, under which what it says could be kept.
      if (!(await confirm())) return found;
      const claimed = await records.findOneAndUpdate(
        { ...byId, ...unclaimed },
        { $set: { term: epoch } } as unknown as UpdateFilter<T>,
        { returnDocument: "after" },
      );
      return claimed ?? records.findOne(byId);
    },
    isLost: (record) => record !== null && termOf(record) > epoch,
  };
}

/** The refusal of a write by a process that was replaced. */
export function replaced(): Error {
  return unavailable("a newer process replaced this one: nothing was changed, try again");
}
