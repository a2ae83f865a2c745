import type { MessageShape } from "@bufbuild/protobuf";
import { AuditKind, type AuditOutcomeSchema, type AuditRecordSchema } from "#proto/auth/v1/audit_service_pb.js";
import { isDuplicateKey } from "../shared/store/store.js";
import { type Fence, replaced } from "./fence.js";
import { AUDIT_KINDS, type AuditKindName, type AuditRecordDoc, type AuthStore } from "./store.js";

/** How long records are kept, and how many of each kind. */
export interface AuditBounds {
  readonly days: number;
  readonly records: number;
}

/** The audit, numbered by the one process that leads. */
export interface AuditTrail {
  /** Numbers records and writes them, in the order of the calls; resolved means on disk. */
  append(records: readonly MessageShape<typeof AuditRecordSchema>[]): Promise<readonly bigint[]>;
  /** Writes how calls ended whose records were written before. */
  finish(outcomes: readonly MessageShape<typeof AuditOutcomeSchema>[]): Promise<void>;
  /** Deletes the oldest of each kind beyond what is kept. */
  tend(): Promise<void>;
}

const DAY_MS = 86_400_000;
/** So that numbers are in the order of their texts. */
const DIGITS = 16;
/** Records deleted in one go. */
const BATCH = 1_000;

const KIND_NAMES: Readonly<Record<AuditKind, AuditKindName>> = {
  [AuditKind.UNSPECIFIED]: "write",
  [AuditKind.ADMINISTRATION]: "administration",
  [AuditKind.WRITE]: "write",
  [AuditKind.REFUSAL]: "refusal",
};

/** The id of the record of a number. */
export const auditIdOf = (number: bigint): string => String(number).padStart(DIGITS, "0");

/** A kind as it is kept. */
export const kindNameOf = (kind: AuditKind): AuditKindName => KIND_NAMES[kind];

/** Goes on where the records end. */
export function openAuditTrail(
  { audit }: Pick<AuthStore, "audit">,
  fence: Pick<Fence, "check">,
  { days, records: most }: AuditBounds,
  now: () => number = Date.now,
): AuditTrail {
  let last: { readonly number: bigint; readonly at: number } | undefined;
  let writing: Promise<unknown> = Promise.resolve();

  async function readLast(): Promise<{ readonly number: bigint; readonly at: number }> {
    const [newest] = await audit.find({}, { sort: { order: -1 }, limit: 1, hint: "order" }).toArray();
    return newest === undefined
      ? { number: 0n, at: 0 }
      : { number: BigInt(newest._id), at: newest.recorded_at.getTime() };
  }

  async function write(records: readonly MessageShape<typeof AuditRecordSchema>[]): Promise<readonly bigint[]> {
    await fence.check();
    last ??= await readLast();
    const { number, at } = last;
    // A clock that was set back changes no order.
    const recordedAt = new Date(Math.max(now(), at));
    const docs = records.map((record, i) => docOf(record, number + BigInt(i) + 1n, recordedAt, days));
    // Whatever becomes of the write, what is there is what counts.
    last = undefined;
    try {
      await audit.insertMany(docs);
    } catch (error) {
      if (isDuplicateKey(error)) throw replaced();
      throw error;
    }
    last = { number: number + BigInt(docs.length), at: recordedAt.getTime() };
    return docs.map(({ _id }) => BigInt(_id));
  }

  async function shorten(kind: AuditKindName): Promise<void> {
    const excess = (await audit.countDocuments({ kind }, { hint: "kind" })) - most;
    for (let left = excess; left > 0; left -= BATCH) {
      const size = Math.min(left, BATCH);
      const oldest = await audit.find({ kind }, { sort: { order: 1 }, limit: size, hint: "kind" }).toArray();
      await audit.deleteMany({ _id: { $in: oldest.map(({ _id }) => _id) } });
    }
  }

  return {
    append(records) {
      const done = writing.then(() => (records.length === 0 ? [] : write(records)));
      writing = done.catch(() => undefined);
      return done;
    },
    async finish(outcomes) {
      await Promise.all(
        outcomes.map(({ number, outcome }) => audit.updateOne({ _id: auditIdOf(number) }, { $set: { outcome } })),
      );
    },
    async tend() {
      for (const kind of AUDIT_KINDS) await shorten(kind);
    },
  };
}

function docOf(
  record: MessageShape<typeof AuditRecordSchema>,
  number: bigint,
  recordedAt: Date,
  days: number,
): AuditRecordDoc {
  const _id = auditIdOf(number);
  return {
    _id,
    order: `${recordedAt.toISOString()} ${_id}`,
    kind: kindNameOf(record.kind),
    recorded_at: recordedAt,
    user_id: record.userId,
    user_email: record.userEmail,
    key_id: record.keyId,
    action: record.action,
    target: record.target,
    arguments: record.arguments,
    outcome: record.outcome,
    trace_id: record.traceId,
    count: record.count,
    expires_at: new Date(recordedAt.getTime() + days * DAY_MS),
  };
}
