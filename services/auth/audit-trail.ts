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
  /** Deletes the oldest of each kind beyond what is kept, however many those are, and now and then counts again. */
  tend(): Promise<void>;
}

const DAY_MS = 86_400_000;
/** So that numbers are in the order of their texts. */
const DIGITS = 16;
/** Records deleted in one go, and after each write at most for each kind: as many as one call of services brings. */
const BATCH = 1_000;
/** How often records are counted again, because those whose days are over go without a word. */
const COUNTED_MS = 3_600_000;

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

/**
 * Goes on where the records end. How many there are of each kind is counted
 * once and kept: what a write brings beyond the bound makes as many of the
 * oldest go before the next write.
 */
export function openAuditTrail(
  { audit }: Pick<AuthStore, "audit">,
  fence: Pick<Fence, "check">,
  { days, records: most }: AuditBounds,
  now: () => number = Date.now,
): AuditTrail {
  let last: { readonly number: bigint; readonly at: number } | undefined;
  let writing: Promise<unknown> = Promise.resolve();
  let counted: { readonly at: number; readonly of: Map<AuditKindName, number> } | undefined;

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
    const before = counted;
    counted = undefined;
    try {
      await audit.insertMany(docs);
    } catch (error) {
      if (isDuplicateKey(error)) throw replaced();
      throw error;
    }
    last = { number: number + BigInt(docs.length), at: recordedAt.getTime() };
    counted = before;
    for (const { kind } of docs) before?.of.set(kind, (before.of.get(kind) ?? 0) + 1);
    return docs.map(({ _id }) => BigInt(_id));
  }

  async function countsOf(): Promise<Map<AuditKindName, number>> {
    if (counted !== undefined) return counted.of;
    const of = new Map<AuditKindName, number>();
    for (const kind of AUDIT_KINDS) of.set(kind, await audit.countDocuments({ kind }, { hint: "kind" }));
    counted = { at: now(), of };
    return of;
  }

  /** Deletes what is too much of a kind, up to a batch of it; says whether there is still too much. */
  async function shorten(kind: AuditKindName): Promise<boolean> {
    const counts = await countsOf();
    const excess = (counts.get(kind) ?? 0) - most;
    if (excess <= 0) return false;
    const options = {
      sort: { order: 1 },
      limit: Math.min(excess, BATCH),
      hint: "kind",
      projection: { _id: 1 },
    } as const;
    const oldest = await audit.find({ kind }, options).toArray();
    await audit.deleteMany({ _id: { $in: oldest.map(({ _id }) => _id) } });
    // Where there are fewer than were counted, their days are over.
    counts.set(kind, oldest.length === 0 ? 0 : (counts.get(kind) ?? 0) - oldest.length);
    return oldest.length > 0 && excess > BATCH;
  }

  async function shortenEach(): Promise<void> {
    for (const kind of AUDIT_KINDS) await shorten(kind);
  }

  return {
    append(records) {
      const done = writing.then(() => (records.length === 0 ? [] : write(records)));
      // Who wrote does not wait for it, the next who writes does. What cannot be deleted now is deleted another time.
      writing = done.then(shortenEach).catch(() => undefined);
      return done;
    },
    async finish(outcomes) {
      await Promise.all(
        outcomes.map(({ number, outcome }) => audit.updateOne({ _id: auditIdOf(number) }, { $set: { outcome } })),
      );
    },
    async tend() {
      if (counted !== undefined && now() - counted.at >= COUNTED_MS) counted = undefined;
      for (const kind of AUDIT_KINDS) {
        for (let isLeft = true; isLeft; ) {
          const done = writing.then(() => shorten(kind));
          writing = done.catch(() => undefined);
          isLeft = await done;
        }
      }
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
