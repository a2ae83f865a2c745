import { LATE_MS } from "./recorder.js";
import type { Report } from "./report/report.js";

/** The share of late requests from which the generator is behind. */
const BEHIND_SHARE = 0.01;
/** The share of requests that waited for a connection from which it is said. */
const WAITED_SHARE = 0.01;

/** Whether the generator itself kept its schedule. */
export function isBehind(late: number, due: number): boolean {
  return late > due * BEHIND_SHARE;
}

/** Sentences on what a reader of the figures must know, the gravest first. */
export function notesOf(report: Omit<Report, "notes">): string[] {
  const { generator, requests, waiting, latencyMs } = report;
  const notes: string[] = [];
  const percent = (count: number): string => `${Number(((count * 100) / requests.due).toPrecision(3))} %`;
  if (report.isInterrupted) notes.push("The run was interrupted: the figures cover the time until then.");
  if (generator.isBehind) {
    notes.push(
      `The generator fell behind its schedule: it sent ${percent(generator.late)} of the requests more than ${LATE_MS} ms late, the latest by ${ms(generator.lateMs.max)} ms. The latencies include this delay, so they say less about the server. Use a lower rate, a faster or quieter machine, or several machines.`,
    );
  }
  if (requests.failed > 0) {
    const reasons = report.failures.map(({ reason, count }) => `${reason} ${count}`).join(", ");
    notes.push(
      `${requests.failed} of ${requests.due} requests failed (${reasons}). They are in the latencies, with the time until they failed: a server that refuses quickly looks fast.`,
    );
  }
  if (waiting.requests > requests.due * WAITED_SHARE) {
    notes.push(
      `${percent(waiting.requests)} of the requests waited for a free connection, 99 % of these for at most ${ms(waiting.waitedMs.p99)} ms. Either the server cannot keep the rate, or it needs more connections (--connections)${generator.isBehind ? ", or the generator was too busy to read answers" : ""}.`,
    );
  }
  if (!generator.isBehind && generator.lateMs.p50 > latencyMs.p50 / 4) {
    notes.push(
      `The generator's timer is ${ms(generator.lateMs.p50)} ms of the median of ${ms(latencyMs.p50)} ms. Use --precise to measure without it, or read the times on the wire.`,
    );
  }
  return notes;
}

const ms = (value: number): string => String(Number(value.toPrecision(3)));
