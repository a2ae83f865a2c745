import { createHash } from "node:crypto";
import { type DocCollection, isDuplicateKey } from "../../shared/store/store.js";
import { shorten } from "../../shared/tools/shorten.js";
import type { AssignmentRecord } from "../kinds/assignments/record.js";
import type { RunRecord, StepRecord } from "../runs/record.js";
import type { NoticeRecord } from "./record.js";

// What people should hear of: a run asks or has ended, a schedule was stopped. A notice is stored before what it tells
// of is, or by who tells again until it is there: a process that dies keeps nothing from anybody.

/** Notices that wait for their receiver; what comes then is not kept. */
const MOST = 5_000;
/** How long a notice is kept, also to know it again: longer than it is tried, in milliseconds. */
const KEPT_MS = 5 * 86_400_000;
/** A notice of what is about to happen is sent a moment later, in milliseconds. */
const SOON_MS = 1_000;
/** How old the answer may be whether there is room, in milliseconds. */
const COUNTED_MS = 1_000;

/** Keeps notices for a receiver. */
export interface Notices {
  /** A run waits for its user at a step. */
  asks(run: RunRecord, step: StepRecord): Promise<void>;
  /** A run has ended; one that its user cancelled tells nobody. */
  ended(run: RunRecord): Promise<void>;
  /** The service stopped a schedule. */
  stopped(
    assignment: Pick<AssignmentRecord, "_id" | "name" | "owner">,
    occasion: string,
    reason: string,
  ): Promise<void>;
}

/** What nobody receives. */
export const NO_NOTICES: Notices = { asks: async () => {}, ended: async () => {}, stopped: async () => {} };

/** Keeps notices in a collection. @param full hears that there is no room for more. */
export function createNotices(notices: DocCollection<NoticeRecord>, full: () => void): Notices {
  let counted = { at: Number.NEGATIVE_INFINITY, isFull: false };

  async function isFull(): Promise<boolean> {
    const now = performance.now();
    if (now - counted.at < COUNTED_MS) return counted.isFull;
    const waiting = { due_at: { $gt: new Date(0) } };
    const count = await notices.countDocuments(waiting, { limit: MOST });
    counted = { at: now, isFull: count >= MOST };
    return counted.isFull;
  }

  async function keep(id: string, run: string, type: string, data: object): Promise<void> {
    if (await isFull()) return full();
    const now = Date.now();
    const body = JSON.stringify({ type, timestamp: new Date(now).toISOString(), data });
    const [due_at, expires_at] = [new Date(now + SOON_MS), new Date(now + KEPT_MS)];
    try {
      await notices.insertOne({ _id: idOf(id), run, body, attempts: 0, due_at, expires_at });
    } catch (error) {
      if (!isDuplicateKey(error)) throw error;
    }
  }

  return {
    asks: (run, { number, asks }) =>
      keep(`${run._id} ${number}`, run._id, "run.asks", {
        ...factsOf(run),
        asks_for: asks === undefined ? "answer" : "approval",
      }),
    async ended(run) {
      if (run.state === "cancelled") return;
      const reason = run.error === null ? {} : { reason: run.error.reason };
      const type = run.state === "completed" ? "run.completed" : "run.failed";
      await keep(run._id, run._id, type, { ...factsOf(run), state: run.state, ...reason });
    },
    stopped: ({ _id, name, owner }, occasion, reason) =>
      keep(`${_id} ${occasion}`, "", "schedule.stopped", {
        user_id: owner,
        assignment: { id: _id, name: shorten(name) },
        reason: shorten(reason, 300),
      }),
  };
}

/** What is told of a run: whose it is and what it is called, and no text of it. */
function factsOf({ _id, owner, agent, agent_name, assignment, assignment_name }: RunRecord): object {
  return {
    user_id: owner,
    run_id: _id,
    agent: { id: agent, name: shorten(agent_name) },
    ...(assignment !== "" && { assignment: { id: assignment, name: shorten(assignment_name) } }),
  };
}

function idOf(text: string): string {
  return `msg_${createHash("sha256").update(text).digest("base64url").slice(0, 27)}`;
}
