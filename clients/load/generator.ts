import { setTimeout } from "node:timers/promises";
import type { Broken } from "./connection.js";
import type { Connections } from "./connections.js";
import type { Answer } from "./http/reader.js";
import { type Asked, judge, type Verdict } from "./mcp/answer.js";
import type { Operation } from "./operation.js";
import type { Point, Recorder } from "./recorder.js";
import type { Schedule } from "./schedule.js";

/** What a run needs. */
export interface Run {
  readonly schedule: Schedule;
  /** Requests at the beginning of the schedule that are sent and not counted, and how long they take. */
  readonly warmup: { readonly count: number; readonly lengthMs: number };
  readonly next: () => Operation;
  readonly connections: Connections;
  readonly recorder: Recorder;
  /** Wait in a busy loop, which uses a whole core, instead of by a timer, which wakes up to a millisecond late. */
  readonly isPrecise: boolean;
  /** The length of an interval, in milliseconds. */
  readonly intervalMs: number;
  /** Called at the end of each interval. */
  readonly watch: (point: Point) => void;
  /** Ends the sending; requests under way are waited for. */
  readonly stop: AbortSignal;
}

/** What a run took, after the warm-up. */
export interface Ran {
  /** Until the last answer arrived or the schedule ended, whichever was later. */
  readonly elapsedMs: number;
  /** CPU time of this process, in milliseconds. */
  readonly cpuMs: number;
  readonly isInterrupted: boolean;
}

/** How often expired requests are looked for. */
const EXPIRE_MS = 50;

/**
 * Sends each request when it is due, whether or not earlier ones were
 * answered; its latency counts from that time. So a server that stalls is
 * measured by every request that was due in the meantime.
 */
export async function drive(run: Run): Promise<Ran> {
  const { schedule, warmup, recorder, connections, stop } = run;
  const began = performance.now();
  const measuredFrom = began + warmup.lengthMs;
  let pending = 0;
  let cpuFrom = process.cpuUsage();
  let lastEnd = measuredFrom;
  const endInterval = (): void => {
    const now = performance.now();
    run.watch(recorder.endInterval(Math.max(0, now - measuredFrom) / 1_000, connections.load));
  };
  const endOfSchedule = began + schedule.lengthMs;
  let intervals: NodeJS.Timeout | undefined;
  const warm = globalThis.setTimeout(() => {
    intervals = setInterval(() => {
      const left = endOfSchedule - performance.now();
      // The last interval is longer, rather than followed by one of a few milliseconds.
      if (left < 0 || left > run.intervalMs / 2) endInterval();
    }, run.intervalMs);
  }, warmup.lengthMs);
  const expiry = setInterval(() => connections.expire(performance.now()), EXPIRE_MS);

  const send = (k: number, dueMs: number, now: number): void => {
    const operation = run.next();
    const isCounted = k >= warmup.count;
    if (k === warmup.count) cpuFrom = process.cpuUsage();
    if (isCounted) recorder.take(now - dueMs);
    let sentMs: number | undefined;
    let isQueued = false;
    pending++;
    connections.send({
      dueMs,
      post: () => ({ headers: operation.message.headers, body: operation.message.bodyOf(k) }),
      sent: (at) => {
        sentMs = at;
        if (isCounted && isQueued) recorder.waited.record(at - now);
      },
      done: (answer) => {
        pending--;
        if (!isCounted) return;
        const end = performance.now();
        lastEnd = end;
        if (sentMs === undefined) recorder.waited.record(end - now);
        const verdict = verdictOf(answer, { id: k, isCall: operation.kind !== "list" });
        recorder.finish(operation, {
          latencyMs: end - dueMs,
          wireMs: sentMs === undefined ? undefined : end - sentMs,
          failure: verdict.failure,
          detail: verdict.detail,
          isStream: verdict.isStream,
          bytes: "body" in answer ? answer.body.length : 0,
        });
      },
    });
    isQueued = sentMs === undefined;
  };

  await sendAll(run, began, send);
  while (pending > 0 && !stop.aborted) await setTimeout(1);
  // After an interruption, what is under way has a moment.
  for (let left = LAST_MS; pending > 0 && left > 0; left--) await setTimeout(1);
  connections.close();
  const isInterrupted = stop.aborted;
  if (!isInterrupted) await untilEnd(endOfSchedule);
  clearTimeout(warm);
  clearInterval(intervals);
  clearInterval(expiry);
  endInterval();
  const { user, system } = process.cpuUsage(cpuFrom);
  const scheduledEnd = isInterrupted ? lastEnd : endOfSchedule;
  // At least a millisecond, for a run that was interrupted in its warm-up.
  const elapsedMs = Math.max(1, Math.max(lastEnd, scheduledEnd) - measuredFrom);
  return { elapsedMs, cpuMs: (user + system) / 1_000, isInterrupted };
}

/** How long requests under way are waited for after an interruption, in milliseconds. */
const LAST_MS = 1_000;

/** Resolves when everything that is due was handed over, or the run was stopped. */
function sendAll(
  { schedule, isPrecise, stop }: Run,
  began: number,
  send: (k: number, dueMs: number, now: number) => void,
): Promise<void> {
  return new Promise((resolve) => {
    let k = 0;
    let due = began + schedule.dueAt(0);
    const turn = (): void => {
      const since = performance.now();
      for (let now = since; due <= now && now - since < TURN_MS && !stop.aborted; now = performance.now()) {
        send(k, due, now);
        k++;
        due = k < schedule.count ? began + schedule.dueAt(k) : Number.POSITIVE_INFINITY;
      }
      const left = due - performance.now();
      if (k === schedule.count || stop.aborted) resolve();
      else if (left <= 0 || (isPrecise && left < BUSY_MS)) setImmediate(turn);
      else globalThis.setTimeout(turn, isPrecise ? left - BUSY_MS : Math.min(left, STOP_MS));
    };
    turn();
  });
}

/** How long a generator that is behind sends before it reads answers. */
const TURN_MS = 2;
/** A timer may be this late: the rest is waited for in a busy loop. */
const BUSY_MS = 2;
/** How soon an interruption is seen. */
const STOP_MS = 100;

async function untilEnd(end: number): Promise<void> {
  const left = end - performance.now();
  if (left > 0) await setTimeout(left);
}

function verdictOf(answer: Answer | Broken, asked: Asked): Verdict {
  return "broken" in answer ? { failure: answer.broken, detail: answer.detail, isStream: false } : judge(answer, asked);
}
