import { isDuplicateKey } from "../shared/store/store.js";
import { hashOf } from "./audit-chain.js";
import type { AuditRecordDoc, AuthStore } from "./store.js";

/** The record with the highest number that there has been. */
export interface AuditEnd {
  /** 0 if there was no record yet. */
  readonly number: bigint;
  /** When it was written, in milliseconds since the epoch. */
  readonly at: number;
  /** What the next record has of it. */
  readonly hash: string;
}

/** Where an audit ends that has had no record. */
export const NO_RECORD: AuditEnd = { number: 0n, at: 0, hash: "" };

/** The state that says which record was deleted last because its days were over. */
const FORGOTTEN = "audit_end";

/** Where the audit ends, whether its last record is still there or not. */
export async function endOfAudit({ audit, state }: Pick<AuthStore, "audit" | "state">): Promise<AuditEnd> {
  const [newest] = await audit.find({}, { sort: { _id: -1 }, limit: 1 }).toArray();
  return laterOf(newest === undefined ? NO_RECORD : endOf(newest), await forgottenEnd({ state }));
}

/** Where the audit ends if this record is its last. */
export function endOf(doc: AuditRecordDoc): AuditEnd {
  return { number: BigInt(doc._id), at: doc.recorded_at.getTime(), hash: hashOf(doc, doc.recorded_at.toISOString()) };
}

/** The one of two ends that has the higher number. */
export function laterOf(one: AuditEnd, other: AuditEnd): AuditEnd {
  return other.number > one.number ? other : one;
}

/** The last record that was deleted because its days were over. */
export async function forgottenEnd({ state }: Pick<AuthStore, "state">): Promise<AuditEnd> {
  const kept = await state.findOne({ _id: FORGOTTEN });
  if (kept?.record === undefined) return NO_RECORD;
  return { number: BigInt(kept.n), at: kept.record.at.getTime(), hash: kept.record.hash };
}

/** Before records are deleted up to this one: numbers and hashes go on from it, also if none is left. */
export async function rememberEnd({ state }: Pick<AuthStore, "state">, { number, at, hash }: AuditEnd): Promise<void> {
  const n = Number(number);
  const isBefore = { _id: FORGOTTEN, n: { $lt: n } };
  const set = { $set: { n, record: { at: new Date(at), hash } } };
  try {
    await state.updateOne(isBefore, set, { upsert: true });
  } catch (error) {
    if (!isDuplicateKey(error)) throw error;
    // Another process has deleted further, or has made the state at the same time.
    await state.updateOne(isBefore, set);
  }
}
