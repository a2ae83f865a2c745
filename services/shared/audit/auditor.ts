import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import { AuditKind, type RecordAuditRequestSchema } from "#proto/auth/v1/audit_service_pb.js";
import { WriteFailure_Outcome as Outcome } from "#proto/mcp/v1/write_failure_pb.js";
import type { Log } from "../process/log.js";
import { unavailable } from "../rpc/errors.js";
import { withOutcome, withOutcomeSaid } from "../rpc/write-outcome.js";
import { type AuditEntry, BEGUN } from "./entry.js";

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
   * Writes down a change before it is made, so that there is none without its record.
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
  readonly send: (request: MessageInitShape<typeof RecordAuditRequestSchema>) => Promise<readonly bigint[]>;
  readonly log: Log;
  readonly flushMs?: number;
  /** How long refusals, and reads, of the same kind are counted together, in milliseconds. */
  readonly togetherMs?: number;
  /** How long a change that was made waits for its record, in milliseconds. */
  readonly patienceMs?: number;
  /** How many records may wait, such as while auth is away. */
  readonly waiting?: number;
}

/** How long a record waits for others at most, in milliseconds; writing them takes some more. */
export const FLUSH_MS = 100;
/** How long a change that was made waits for its record, in milliseconds. */
export const PATIENCE_MS = 10_000;
const TOGETHER_MS = 60_000;
const WAITING = 20_000;
/** Records of one write. */
const BATCH = 1_000;
/** Kinds of refusals and reads that are counted at a time. */
const COUNTED = 1_000;

/** A record that is still to be written, and who hears that it is. */
interface Waiting {
  readonly entry: AuditEntry;
  readonly written?: () => void;
}

interface Counted {
  readonly entry: AuditEntry;
  readonly until: number;
  again: number;
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
  waiting: most = WAITING,
}: AuditorOptions): Auditor {
  let waiting: Waiting[] = [];
  let lost = 0;
  let writing: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let isSoon = false;
  /** The last write failed: the next one is tried when its time comes, however many ask. */
  let isAway = false;
  const counted = new Map<string, Counted>();

  /** @returns false if there is no place for it. */
  function push(one: Waiting): boolean {
    timer ??= setTimeout(flush, flushMs).unref();
    if (waiting.length < most) return waiting.push(one) > 0;
    lost++;
    return false;
  }

  function flush(): void {
    clearTimeout(timer);
    timer = undefined;
    isSoon = false;
    writing = writing.then(write);
  }

  /** At the end of this pass of the event loop, or once what is being written is: all that wait then go together. */
  function flushSoon(): void {
    if (isSoon || isAway) return;
    isSoon = true;
    setImmediate(() => void writing.then(flush));
  }

  async function write(): Promise<void> {
    while (waiting.length > 0) {
      const batch = waiting.slice(0, BATCH);
      try {
        await send({ records: batch.map(({ entry }) => entry) });
      } catch (error) {
        log.warn(
          { err: error, waiting: waiting.length },
          "audit records cannot be written now; they are kept and written later",
        );
        isAway = true;
        clearTimeout(timer);
        timer = setTimeout(flush, Math.max(flushMs, 1_000)).unref();
        return;
      }
      isAway = false;
      waiting = waiting.slice(batch.length);
      for (const { written } of batch) written?.();
    }
    if (lost > 0) log.error({ lost }, "audit records were lost: too many waited while none could be written");
    lost = 0;
  }

  /** What was refused again since is written once it is over, or where others need its place. */
  function settle(now: number): void {
    for (const [name, one] of counted) {
      if (one.until > now && counted.size <= COUNTED) break;
      counted.delete(name);
      if (one.again > 0) push({ entry: { ...one.entry, count: one.again } });
    }
  }

  const settling = setInterval(() => settle(performance.now()), Math.min(togetherMs, 5_000)).unref();

  return {
    note(entry) {
      if (entry.kind !== AuditKind.REFUSAL && entry.kind !== AuditKind.READ) {
        push({ entry });
        return;
      }
      const name = `${entry.userId} ${entry.keyId} ${entry.serviceAccount} ${entry.action} ${entry.outcome}`;
      const known = counted.get(name);
      if (known !== undefined && known.until > performance.now()) {
        known.again++;
        return;
      }
      settle(performance.now());
      counted.set(name, { entry, until: performance.now() + togetherMs, again: 0 });
      push({ entry });
    },
    keep(entry) {
      return new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(notKept()), patienceMs).unref();
        const hasPlace = push({
          entry,
          written() {
            clearTimeout(late);
            resolve();
          },
        });
        if (!hasPlace) return reject(notKept());
        flushSoon();
      });
    },
    async begin(entry) {
      let number: bigint | undefined;
      try {
        [number] = await send({ records: [{ ...entry, outcome: BEGUN }] });
      } catch (error) {
        throw withOutcome(unavailable("the audit could not record this call", error), Outcome.UNCHANGED, "try again");
      }
      return async (outcome) => {
        if (number === undefined) return;
        await send({ outcomes: [{ number, outcome }] }).catch((error: unknown) =>
          log.error({ err: error, number: String(number), outcome }, "the audit could not record how this call ended"),
        );
      };
    },
    async close() {
      clearInterval(settling);
      settle(Number.POSITIVE_INFINITY);
      clearTimeout(timer);
      flush();
      await writing;
      clearTimeout(timer);
    },
  };
}
