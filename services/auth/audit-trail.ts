import type { MessageShape } from "@bufbuild/protobuf";
import type { AuditOutcomeSchema, AuditRecordSchema } from "#proto/auth/v1/audit_service_pb.js";
import { insertedBefore, isDuplicateKey } from "../shared/store/store.js";
import { hashOf } from "./audit-chain.js";
import { createAuditCounts } from "./audit-counts.js";
import { type AuditEnd, endOf, forgottenEnd, laterOf, NO_RECORD } from "./audit-end.js";
import { AUDIT_KINDS, type AuditKindName } from "./audit-kinds.js";
import { auditIdOf, docOf } from "./audit-record-doc.js";
import { forgetBefore } from "./audit-times.js";
import { SentRecords } from "./sent-records.js";
import type { AuditRecordDoc, AuthStore } from "./store.js";

/** How long records are kept, and how many of each kind. */
export interface AuditBounds {
  readonly days: number;
  readonly records: number;
}

/** How records were sent. */
export interface Sending {
  /** The ids that their sender gave them; none if they are never sent again. */
  readonly sentIds: readonly string[];
  /** If some may be there already: the number after which they are. */
  readonly repeatsAfter?: bigint | undefined;
  /** Whether they may come again without `repeatsAfter`: a request that was taken for lost, and sent again, may still arrive. */
  readonly mayComeAgain?: boolean;
}

/** The audit, numbered without gaps by all auth processes. */
export interface AuditTrail {
  /**
   * Numbers records and writes them, in the order of the calls; resolved means on disk. One that is there already, by the
   * id that its sender gave it, is not written again.
   */
  append(records: readonly MessageShape<typeof AuditRecordSchema>[], sending?: Sending): Promise<readonly bigint[]>;
  /** Writes how calls ended whose records were written before. */
  finish(outcomes: readonly MessageShape<typeof AuditOutcomeSchema>[]): Promise<void>;
  /** Deletes records whose days are over, and those beyond the bound of each kind, however many; once an hour counts again. */
  tend(): Promise<void>;
  /** How many records there are of a user, by e-mail address; of everyone without one. */
  countOf(userEmail?: string): Promise<number>;
  /** Stops counting and waits for what is being written. */
  close(): Promise<void>;
}

/** Records deleted in one go, and after each write at most for each kind: as many as one call of services brings. */
const BATCH = 1_000;
const DAY_MS = 86_400_000;
/** How far beyond its bound a kind may be, as a part of the bound: so that not every write deletes. */
const SLACK_PART = 250;
/** How often records are counted again, because other processes delete too, and records whose days are over are deleted without a count. */
const COUNTED_MS = 3_600_000;
/** Records of other processes, or of before the start, whose ids are remembered. */
const REMEMBERED = { sort: { _id: -1 }, limit: 2_000 } as const;

/**
 * Goes on where the records end. How many each user has of each kind is counted once, in the background, and then
 * kept. If a write brings more than the bound of its kind, as many go before the next write: the oldest of the user
 * who has the most, so that nobody's flood costs others their records.
 */
export function openAuditTrail(
  { audit, state }: Pick<AuthStore, "audit" | "state">,
  { days, records: most }: AuditBounds,
  now: () => number = Date.now,
): AuditTrail {
  const slack = Math.min(BATCH, Math.floor(most / SLACK_PART));
  const sent = new SentRecords(audit, auditIdOf);
  /** The newest record that this process knows. */
  let last: AuditEnd = NO_RECORD;
  /** Whether nothing came after it, as far as this process knows. */
  let isCurrent = false;
  let writing: Promise<unknown> = Promise.resolve();
  /** One after the other: nothing is written while something is counted or deleted. */
  function inTurn<T>(work: () => Promise<T>): Promise<T> {
    const done = writing.then(work);
    writing = done.catch(() => undefined);
    return done;
  }
  const counts = createAuditCounts({ audit }, inTurn, now);

  /** Reads what other processes wrote, or this one without knowing. */
  async function catchUp(): Promise<void> {
    const newest = audit.find({ _id: { $gt: auditIdOf(last.number) } }, REMEMBERED).toArray();
    const [docs, forgotten] = await Promise.all([newest, forgottenEnd({ state })]);
    for (const { _id, sent_id } of docs.toReversed()) if (sent_id !== undefined) sent.add(sent_id, BigInt(_id));
    last = laterOf(docs[0] === undefined ? last : endOf(docs[0]), forgotten);
    isCurrent = true;
  }

  async function write(
    records: readonly MessageShape<typeof AuditRecordSchema>[],
    { sentIds, repeatsAfter, mayComeAgain = false }: Sending,
  ): Promise<readonly bigint[]> {
    const numbers: (bigint | undefined)[] = new Array(records.length).fill(undefined);
    let mayBeThere = mayComeAgain || repeatsAfter !== undefined;
    if (repeatsAfter !== undefined) {
      await catchUp();
      await sent.look(sentIds, repeatsAfter, last.number);
    }
    for (;;) {
      if (!isCurrent) {
        await catchUp();
        mayBeThere = true;
      }
      const left: number[] = [];
      for (let i = 0; i < records.length; i++) {
        if (numbers[i] !== undefined) continue;
        const sentId = sentIds[i];
        if (mayBeThere && sentId !== undefined) numbers[i] = sent.numberOf(sentId);
        if (numbers[i] === undefined) left.push(i);
      }
      if (left.length === 0) return numbers as bigint[];
      // A clock that was set back changes no order.
      const recordedAt = new Date(Math.max(now(), last.at));
      const text = recordedAt.toISOString();
      const docs: AuditRecordDoc[] = [];
      const given: bigint[] = [];
      let { number, hash: previous } = last;
      for (const i of left) {
        const doc = docOf(records[i]!, recordedAt, { number: ++number, previous, sentId: sentIds[i] });
        docs.push(doc);
        given.push(number);
        previous = hashOf(doc, text);
      }
      isCurrent = false;
      const written = docs.slice(0, await insertFirst(docs));
      if (written.length === docs.length) {
        last = { number, at: recordedAt.getTime(), hash: previous };
        isCurrent = true;
      }
      counts.add(written);
      for (let i = 0; i < written.length; i++) {
        const { sent_id } = written[i]!;
        numbers[left[i]!] = given[i]!;
        if (mayComeAgain && sent_id !== undefined) sent.add(sent_id, given[i]!);
      }
    }
  }

  /** Writes records until one has a number that another process has given; says how many it wrote. */
  async function insertFirst(docs: AuditRecordDoc[]): Promise<number> {
    try {
      await audit.insertMany(docs);
      return docs.length;
    } catch (error) {
      if (isDuplicateKey(error)) return insertedBefore(error);
      // Some of them may be there.
      counts.distrust();
      throw error;
    }
  }

  /** Deletes what is too much of a kind, up to a batch of it; says whether there is still too much. */
  async function shorten(kind: AuditKindName): Promise<boolean> {
    const own = counts.of(kind);
    const excess = own.total - most;
    if (excess <= slack || !counts.isCounted()) return false;
    try {
      const ids: string[] = [];
      for (const [user_email, count] of own.takeFromLargest(Math.min(excess, BATCH))) {
        const options = { sort: { _id: 1 }, limit: count, hint: "user", projection: { _id: 1 } } as const;
        const oldest = await audit.find({ user_email, kind }, options).toArray();
        ids.push(...oldest.map(({ _id }) => _id));
        // If there are fewer than were counted, their days are over.
        if (oldest.length < count) own.set(user_email, 0);
      }
      await audit.deleteMany({ _id: { $in: ids } });
    } catch (error) {
      counts.distrust();
      throw error;
    }
    return own.total > most + slack;
  }

  async function shortenEach(): Promise<void> {
    for (const kind of AUDIT_KINDS) if (counts.of(kind).total > most + slack) await shorten(kind);
  }

  return {
    append(records, sending = { sentIds: [] }) {
      const done = writing.then(() => (records.length === 0 ? [] : write(records, sending)));
      // Who wrote does not wait for it, the next who writes does. What cannot be deleted now is deleted another time.
      writing = done.then(shortenEach).catch(() => undefined);
      if (!counts.isCounted()) void done.then(() => counts.count()).catch(() => undefined);
      return done;
    },
    async finish(outcomes) {
      await Promise.all(
        outcomes.map(({ number, outcome }) => audit.updateOne({ _id: auditIdOf(number) }, { $set: { outcome } })),
      );
    },
    async tend() {
      while (await inTurn(() => forgetBefore({ audit, state }, now() - days * DAY_MS)));
      await counts.count(COUNTED_MS);
      for (const kind of AUDIT_KINDS) while (await inTurn(() => shorten(kind)));
    },
    async countOf(userEmail) {
      await counts.count();
      const own = AUDIT_KINDS.map(counts.of);
      return own.reduce((sum, one) => sum + (userEmail === undefined ? one.total : one.of(userEmail)), 0);
    },
    async close() {
      await counts.close();
      await writing;
    },
  };
}
