import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { BEGUN } from "../../shared/audit/entry.js";
import type { Log } from "../../shared/process/log.js";
import type { AuditRecordDoc, AuthStore } from "../store.js";
import { readLag } from "./lag.js";
import { type Reached, ReceiverPlace } from "./place.js";
import type { AuditReceiver } from "./receiver.js";
import { exported } from "./record.js";
import { type AuditExportSettings, openReceiver } from "./setting.js";

/** Records of one delivery at most: their hashes and their JSON are made without a pause. */
const BATCH = 500;
/** How often new records are looked for, in milliseconds. */
const LOOK_MS = 1_000;
/** How long a receiver that fails is left alone, at first and at most, in milliseconds. */
const RETRY_MS = 1_000;
const MAX_RETRY_MS = 30_000;
/** A record whose call has not ended waits for its outcome this long, in milliseconds, and all later ones with it. */
const OUTCOME_MS = 60_000;

type Stored = Pick<AuthStore, "audit" | "auditReceivers" | "state">;

/**
 * Sends the audit to each receiver, in the order of its numbers, until it is closed. Where it is, is in the store: while
 * a receiver is away nothing is lost but what the bounds of the audit delete, and of several auth processes one sends.
 *
 * @param isAlone whether no other process can use the store: the one that sent before has ended.
 */
export function startAuditExport(
  store: Stored,
  settings: AuditExportSettings,
  log: Log,
  isAlone = false,
): { close(): Promise<void> } {
  const closing = new AbortController();
  const holder = randomUUID();
  const exports = settings.receivers.map((url) => {
    const place = new ReceiverPlace(store, url.href, { holder, isAlone });
    const own = log.child({ receiver: url.href });
    return new AuditExport(store, place, openReceiver(url, settings), own).run(closing.signal);
  });
  const endReading = readLag(store, settings.receivers);
  return {
    async close() {
      closing.abort();
      endReading();
      await Promise.all(exports);
    },
  };
}

class AuditExport {
  readonly #audit: Stored["audit"];
  readonly #place: ReceiverPlace;
  readonly #receiver: AuditReceiver;
  readonly #log: Log;

  constructor({ audit }: Stored, place: ReceiverPlace, receiver: AuditReceiver, log: Log) {
    this.#audit = audit;
    this.#place = place;
    this.#receiver = receiver;
    this.#log = log;
  }

  async run(signal: AbortSignal): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      let wait = LOOK_MS;
      try {
        const sent = await this.#deliver(signal);
        if (failures > 0) this.#log.info("the receiver of the audit takes records again");
        failures = 0;
        if (sent === BATCH) wait = 0;
      } catch (error) {
        if (signal.aborted) break;
        if (failures++ === 0)
          this.#log.warn({ err: error }, "the receiver of the audit takes no records: they are kept and sent later");
        wait = Math.min(RETRY_MS * 2 ** (failures - 1), MAX_RETRY_MS);
      }
      await sleep(wait, undefined, { signal }).catch(() => undefined);
    }
    await this.#place.leave().catch(() => undefined);
  }

  /** Sends the next records; returns how many. */
  async #deliver(signal: AbortSignal): Promise<number> {
    const reached = await this.#place.hold();
    if (reached === undefined) return 0;
    const { after } = reached;
    const found = await this.#audit.find({ _id: { $gt: after } }, { sort: { _id: 1 }, limit: BATCH }).toArray();
    const docs = ended(found);
    const last = docs.at(-1);
    if (last === undefined) return 0;
    await this.#receiver.send(docs.map(exported), signal);
    await this.#place.advance(last._id);
    this.#tellMissing(reached, docs, last._id);
    return found.length;
  }

  /** Numbers have no gaps: one that is missing was deleted before it was sent, or before there was this receiver. */
  #tellMissing({ after, since }: Reached, docs: readonly AuditRecordDoc[], last: string): void {
    const from = after > since ? after : since;
    const sent = docs.filter(({ _id }) => _id > from).length;
    const missing = Number(last) - Number(from) - sent;
    if (missing <= 0) return;
    this.#log.error({ missing }, "audit records were deleted before the receiver took them: raise AUDIT_RECORDS");
  }
}

/** The records up to the first whose call may still end. */
function ended(docs: readonly AuditRecordDoc[]): readonly AuditRecordDoc[] {
  const since = Date.now() - OUTCOME_MS;
  const open = docs.findIndex(({ outcome, recorded_at }) => outcome === BEGUN && recorded_at.getTime() > since);
  return open < 0 ? docs : docs.slice(0, open);
}
