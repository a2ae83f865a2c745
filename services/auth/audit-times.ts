import { endOf, rememberEnd } from "./audit-end.js";
import { auditIdOf } from "./audit-record-doc.js";
import type { AuditRecordDoc, AuthStore } from "./store.js";

/** Records that are deleted in one go. */
const BATCH = 1_000;

/**
 * An id that divides the records by a time: those from it on were written then or later, those before it earlier. Numbers are
 * in the order of time, so that a few records tell it of all.
 */
export async function firstIdSince({ audit }: Pick<AuthStore, "audit">, at: Date): Promise<string> {
  const numberOf = ({ _id }: AuditRecordDoc): number => Number(_id);
  const idOf = (number: number): string => auditIdOf(BigInt(number));
  const projection = { recorded_at: 1 };
  const endOf = (direction: 1 | -1) => audit.find({}, { sort: { _id: direction }, limit: 1, projection }).toArray();
  const [[oldest], [newest]] = await Promise.all([endOf(1), endOf(-1)]);
  if (oldest === undefined || newest === undefined || at <= oldest.recorded_at) return idOf(0);
  let [from, to] = [numberOf(oldest), numberOf(newest) + 1];
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    const options = { sort: { _id: 1 }, limit: 1, projection } as const;
    // Numbers of records that were deleted are left out.
    const [next] = await audit.find({ _id: { $gte: idOf(middle) } }, options).toArray();
    if (next !== undefined && next.recorded_at < at) from = numberOf(next) + 1;
    else to = middle;
  }
  return idOf(from);
}

/** Deletes the oldest records, up to a batch, if they are older than a time in milliseconds; says whether there may be more of them. */
export async function forgetBefore(store: Pick<AuthStore, "audit" | "state">, at: number): Promise<boolean> {
  const { audit } = store;
  const oldest = (limit: number) => audit.find({}, { sort: { _id: 1 }, limit }).toArray();
  const isOver = ({ recorded_at }: AuditRecordDoc): boolean => recorded_at.getTime() < at;
  // Usually no record is that old.
  if (!(await oldest(1)).some(isOver)) return false;
  const over = (await oldest(BATCH)).filter(isOver);
  const last = over.at(-1)!;
  await rememberEnd(store, endOf(last));
  await audit.deleteMany({ _id: { $lte: last._id } });
  return over.length === BATCH;
}
