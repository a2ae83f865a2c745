import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../../shared/process/log.js";
import type { DocCollection } from "../../shared/store/store.js";
import type { Context } from "../context.js";
import type { HttpAnswer, HttpRequest } from "../runs/apart/http.js";
import { CUSTOM_TOOLS } from "../runs/outgoing.js";
import { ENDED } from "../runs/record.js";
import type { NoticeRecord } from "./record.js";
import type { WebhookSettings } from "./setting.js";
import { headersOf } from "./signature.js";

/** How often stored notices are looked for, in milliseconds. */
const LOOK_MS = 1_000;
/** How long a receiver may take, and how long a process has a notice for itself, in milliseconds. */
const SEND_MS = 15_000;
const HOLD_MS = 4 * SEND_MS;
/** After how many milliseconds a notice is sent again: four times as long each time. Together three days. */
const FIRST_MS = 5_000;
const LONGEST_MS = 8 * 3_600_000;
const ATTEMPTS = 16;
/** How long a receiver that fails is left alone, at first and at most, in milliseconds. */
const PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 30_000;

/** What a sender works with. */
type Parts = Pick<Context, "isolation" | "outgoing" | "runs"> & { readonly notices: DocCollection<NoticeRecord> };

/** How long a sender waits, where a test cannot. */
export interface Pace {
  readonly lookMs: number;
  readonly firstMs: number;
}

/**
 * Sends what is stored to the receiver, until it is closed. A notice is sent until the receiver answers with 2xx, and
 * may be sent twice if an answer is lost: its id stays the same.
 */
export function startSending(
  parts: Parts,
  settings: WebhookSettings,
  log: Log,
  { lookMs, firstMs }: Pace = { lookMs: LOOK_MS, firstMs: FIRST_MS },
): { close(): Promise<void> } {
  const closing = new AbortController();
  const { signal } = closing;
  const sender = new Sender(parts, settings);

  async function run(): Promise<void> {
    let failures = 0;
    while (!signal.aborted) {
      let wait = lookMs;
      try {
        const taken = await sender.take();
        if (taken !== null) {
          wait = 0;
          const failure = await sender.send(taken, signal);
          if (failure === undefined) failures = 0;
          else {
            if (failures++ === 0)
              log.warn({ failure }, "the receiver of notices takes none: they are sent again later");
            wait = Math.min(PAUSE_MS * 2 ** (failures - 1), LONGEST_PAUSE_MS, firstMs);
            if (!(await sender.again(taken, firstMs)))
              log.error({ notice: taken._id, failure }, "a notice is given up");
          }
        }
      } catch (error) {
        if (signal.aborted) break;
        log.warn({ err: error }, "notices cannot be read");
      }
      await sleep(wait, undefined, { signal }).catch(() => undefined);
    }
  }

  const running = run();
  return {
    async close() {
      closing.abort();
      await running;
    },
  };
}

class Sender {
  constructor(
    private readonly parts: Parts,
    private readonly settings: WebhookSettings,
  ) {}

  /** The notice that waits longest, for this process alone for a while. */
  take(): Promise<NoticeRecord | null> {
    const now = Date.now();
    return this.parts.notices.findOneAndUpdate(
      { due_at: { $gt: new Date(0), $lte: new Date(now) } },
      { $set: { due_at: new Date(now + HOLD_MS) }, $inc: { attempts: 1 } },
      { sort: { due_at: 1 }, returnDocument: "after" },
    );
  }

  /** Sends a notice. @returns why it did not arrive; undefined if it did, or tells of nothing any more. */
  async send(notice: NoticeRecord, signal: AbortSignal): Promise<string | undefined> {
    const failure = (await this.#isOver(notice)) ? undefined : await this.#deliver(notice, signal);
    if (failure === undefined) await this.parts.notices.updateOne({ _id: notice._id }, { $set: { due_at: null } });
    return failure;
  }

  /** Has a notice sent again later. @returns false for one that is given up. */
  async again({ _id, attempts }: NoticeRecord, firstMs: number): Promise<boolean> {
    const isLast = attempts >= ATTEMPTS;
    const wait = Math.min(firstMs * 4 ** (attempts - 1), LONGEST_MS) * (0.8 + 0.4 * Math.random());
    await this.parts.notices.updateOne({ _id }, { $set: { due_at: isLast ? null : new Date(Date.now() + wait) } });
    return !isLast;
  }

  /** A question of a run that has ended meanwhile is nobody's. */
  async #isOver({ run, body }: NoticeRecord): Promise<boolean> {
    if (run === "" || !body.startsWith('{"type":"run.asks"')) return false;
    const found = await this.parts.runs.findOne({ _id: run }, { projection: { state: 1 } });
    return found === null || ENDED.has(found.state);
  }

  async #deliver({ _id: id, body }: NoticeRecord, signal: AbortSignal): Promise<string | undefined> {
    const { isolation, outgoing } = this.parts;
    const { url, secrets } = this.settings;
    const headers = headersOf({ id, at: new Date(), body }, secrets);
    const request: HttpRequest = { url: url.href, method: "POST", headers, body, policy: outgoing };
    const patience = { ms: SEND_MS, signal };
    try {
      const answer = await isolation.call(CUSTOM_TOOLS, RECEIVER, "send", JSON.stringify(request), patience);
      const { status } = JSON.parse(answer as string) as HttpAnswer;
      return status >= 200 && status < 300 ? undefined : `it answered with ${status}`;
    } catch (error) {
      signal.throwIfAborted();
      return (error as Error).message;
    }
  }
}

/** Whose processes send: the deployment's own. */
const RECEIVER = { id: "webhook", owner: "" };
