import type { ConnectError } from "@connectrpc/connect";
import { AuditKind } from "#proto/auth/v1/audit_service_pb.js";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import { GroupCommit } from "../process/group-commit.js";
import type { Log } from "../process/log.js";
import { unavailable } from "../rpc/errors.js";
import { withOutcome, withOutcomeSaid } from "../rpc/write-outcome.js";
import { type AuditEntry, BEGUN } from "./entry.js";
import { EqualEntries } from "./equal-entries.js";
import { type AuditRequest, AuditSender } from "./sender.js";

/** Writes down who did what. */
export interface Auditor {
  /** Notes what has happened: it is written within {@link FLUSH_MS}. Costs no more than a place in a list. */
  note(entry: AuditEntry): void;
  /**
   * Writes down a change that was made, together with those of other calls; resolved means on disk. What cannot be
   * written in time is written later, if it has a place among those that wait.
   *
   * @throws ConnectError unavailable, if it is not on disk after {@link PATIENCE_MS}, or at once if it has no place.
   */
  keep(entry: AuditEntry): Promise<void>;
  /**
   * Writes down a change before it is made, so that there is none without its record. While auth cannot be reached it
   * tries again for {@link BEGIN_MS}.
   *
   * @returns what tells how it ended; resolved means written.
   * @throws ConnectError unavailable, where it cannot be written: then nothing may be changed.
   */
  begin(entry: AuditEntry): Promise<(outcome: string) => Promise<void>>;
  /** Writes what is still to be written. */
  close(): Promise<void>;
}

/** What an auditor is made with. */
export interface AuditorOptions {
  /** Writes records and outcomes; gives the numbers of the records. */
  readonly send: (request: AuditRequest) => Promise<readonly bigint[]>;
  readonly log: Log;
  readonly flushMs?: number;
  /** How long refusals, and reads, of the same kind are counted together, in milliseconds. */
  readonly togetherMs?: number;
  /** How long a change that was made waits for its record, in milliseconds. */
  readonly patienceMs?: number;
  /** How long a change that is to be made waits for an auth that cannot be reached, in milliseconds. */
  readonly beginMs?: number;
  /** How many records may wait, such as while auth is away. */
  readonly waiting?: number;
}

/** How long a record waits for others at most, in milliseconds; writing them takes some more. */
export const FLUSH_MS = 100;
/** How long a change that was made waits for its record, in milliseconds. */
export const PATIENCE_MS = 10_000;
/** How long a change that is to be made waits for an auth that cannot be reached, in milliseconds. */
export const BEGIN_MS = 3_000;
const AGAIN_MS = 1_000;
const TOGETHER_MS = 60_000;
const WAITING = 20_000;
/** Records of one write. */
const BATCH = 1_000;

/** A record that is still to be written, and the call that waits for it. */
interface Waiting {
  readonly entry: AuditEntry;
  readonly id: string;
  call: WaitingCall | undefined;
}

/** A call that made a change and waits for its record. */
interface WaitingCall {
  readonly resolve: () => void;
  readonly reject: (error: ConnectError) => void;
  /** By performance.now(). */
  readonly until: number;
}

/** How a call ended whose record was written before. */
interface Ended {
  readonly number: bigint;
  readonly outcome: string;
}

function notKept(): ConnectError {
  const said = "the change was made, but its record is not in the audit yet: read before you repeat the call";
  return withOutcomeSaid(unavailable(said), Outcome.PARTLY);
}

/** @param options see {@link AuditorOptions}. */
export function createAuditor({
  send,
  log,
  flushMs = FLUSH_MS,
  togetherMs = TOGETHER_MS,
  patienceMs = PATIENCE_MS,
  beginMs = BEGIN_MS,
  waiting: most = WAITING,
}: AuditorOptions): Auditor {
  let waiting: Waiting[] = [];
  let ended: Ended[] = [];
  const sender = new AuditSender(send);
  /** If the answer for the first of those that wait was lost: what the sender knew before they were sent. */
  let repeatsAfter: bigint | undefined;
  let lost = 0;
  let writing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let isSoon = false;
  /** The last write failed: the next one is tried when its time comes, however many ask. */
  let isAway = false;
  const groupCommit = new GroupCommit();
  /** Whether the timer runs that ends the wait of the call that began first. A timer for each call took 5 % of the call. */
  let isTimed = false;
  const equal = new EqualEntries(togetherMs, (entry) => void push(entry));

  /** @returns false if there is no place for it. */
  function push(entry: AuditEntry, call?: WaitingCall): boolean {
    timer ??= setTimeout(flush, flushMs).unref();
    if (waiting.length < most) return waiting.push({ entry, id: sender.nextId(), call }) > 0;
    lost++;
    return false;
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    isSoon = false;
    writing = writing.then(write);
  }

  /** Once what is being written is: all that wait then go together. */
  function flushSoon(): void {
    if (isSoon || isAway) return;
    isSoon = true;
    void writing.then(flush);
  }

  async function write(): Promise<void> {
    while (waiting.length > 0 || ended.length > 0) {
      await groupCommit.gather();
      const [batch, outcomes] = [waiting.slice(0, BATCH), ended.slice(0, BATCH)];
      groupCommit.share(batch.length);
      const before = sender.known;
      try {
        const sending = { records: batch.map(({ entry }) => entry), sentIds: batch.map(({ id }) => id) };
        await sender.send({ ...sending, ...(outcomes.length > 0 && { outcomes }) }, repeatsAfter);
      } catch (error) {
        log.warn(
          { err: error, waiting: waiting.length },
          "audit records cannot be written now; they are kept and written later",
        );
        if (batch.length > 0) repeatsAfter ??= before;
        isAway = true;
        clearTimeout(timer);
        timer = setTimeout(flush, Math.max(flushMs, AGAIN_MS)).unref();
        return;
      }
      isAway = false;
      repeatsAfter = undefined;
      waiting = waiting.slice(batch.length);
      ended = ended.slice(outcomes.length);
      for (const { call } of batch) call?.resolve();
    }
    if (lost > 0) log.error({ lost }, "audit records were lost: too many waited while none could be written");
    lost = 0;
  }

  function letGoAfter(ms: number): void {
    isTimed = true;
    setTimeout(letGo, ms).unref();
  }

  /** Tells the calls that have waited for long enough that their records are not written yet. */
  function letGo(): void {
    isTimed = false;
    const now = performance.now();
    for (const one of waiting) {
      const { call } = one;
      if (call === undefined) continue;
      if (call.until > now) {
        letGoAfter(call.until - now);
        return;
      }
      one.call = undefined;
      call.reject(notKept());
    }
  }

  /** Writes later how a call ended. */
  function endLater(one: Ended): void {
    timer ??= setTimeout(flush, Math.max(flushMs, AGAIN_MS)).unref();
    if (ended.length < most) ended.push(one);
    else lost++;
  }

  const settling = setInterval(() => equal.settle(performance.now()), Math.min(togetherMs, 5_000)).unref();

  return {
    note(entry) {
      if (entry.kind !== AuditKind.REFUSAL && entry.kind !== AuditKind.READ) {
        push(entry);
      } else equal.note(entry);
    },
    keep(entry) {
      return new Promise((resolve, reject) => {
        if (!push(entry, { resolve, reject, until: performance.now() + patienceMs })) return reject(notKept());
        if (!isTimed) letGoAfter(patienceMs);
        flushSoon();
      });
    },
    async begin(entry) {
      let number: bigint | undefined;
      try {
        number = await sender.sendOne({ ...entry, outcome: BEGUN }, beginMs);
      } catch (error) {
        throw withOutcome(unavailable("the audit could not record this call", error), Outcome.UNCHANGED, "try again");
      }
      return async (outcome) => {
        if (number === undefined) return;
        const one = { number, outcome };
        await send({ outcomes: [one] }).catch((error: unknown) => {
          const facts = { err: error, number: String(number), outcome };
          log.warn(facts, "the audit could not record how this call ended: it is recorded later");
          endLater(one);
        });
      };
    },
    async close() {
      clearInterval(settling);
      equal.settle(Number.POSITIVE_INFINITY);
      clearTimeout(timer);
      flush();
      await writing;
      clearTimeout(timer);
    },
  };
}
