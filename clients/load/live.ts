import type { Point, Recorder } from "./recorder.js";
import type { Schedule } from "./schedule.js";

/** Shows a run while it is under way. */
export interface Live {
  show(point: Point): void;
  /** Ends the view, so that what follows is below it. */
  end(): void;
}

/** Where the view is written. */
export interface Screen {
  readonly isTTY?: boolean;
  /** Characters in a line of a terminal. */
  readonly columns?: number;
  write(text: string): unknown;
}

const BAR = 40;

/** One block that is redrawn in place on a terminal; otherwise a line for each interval. */
export function createLive(screen: Screen, schedule: Schedule, warmupMs: number, recorder: Recorder): Live {
  let drawn = 0;
  const redraw = (lines: readonly string[]): void => {
    const up = drawn === 0 ? "" : `\x1b[${drawn}A`;
    // A line that the terminal breaks would be two, and the next block would be drawn too low.
    const cut = lines.map((line) => line.slice(0, screen.columns));
    screen.write(`${up}${cut.map((line) => `\x1b[2K${line}\n`).join("")}`);
    drawn = lines.length;
  };
  const lengthMs = schedule.lengthMs - warmupMs;
  return {
    show: (point) => {
      if (!screen.isTTY) screen.write(`${lineOf(point)}\n`);
      else redraw(blockOf(point, recorder, lengthMs, schedule.rateAt(warmupMs + point.second * 1_000)));
    },
    end: () => {
      if (drawn > 0) screen.write("\n");
    },
  };
}

function lineOf({ second, due, good, failed, p50Ms, p99Ms, maxMs, inFlight, waiting }: Point): string {
  return `${second.toFixed(0)} s: due ${due}, good ${good}, failed ${failed}, p50 ${ms(p50Ms)}, p99 ${ms(p99Ms)}, max ${ms(maxMs)} ms, under way ${inFlight}, waiting ${waiting}`;
}

function blockOf(point: Point, recorder: Recorder, lengthMs: number, target: number): string[] {
  const { latency, good, failed } = recorder;
  const share = Math.min(1, (point.second * 1_000) / lengthMs);
  const filled = Math.round(share * BAR);
  const row = (name: string, p50: number, p99: number, max: number): string =>
    `${name.padEnd(12)}p50 ${ms(p50).padStart(9)}   p99 ${ms(p99).padStart(9)}   max ${ms(max).padStart(9)} ms`;
  const operations = recorder.tallies.map(({ operation: { kind, era }, good: own, failed: bad, latency: times }) => {
    const counts = `good ${String(own).padStart(8)}   failed ${String(bad).padStart(6)}`;
    return `${`${kind} ${era}`.padEnd(22)}${counts}   p50 ${ms(times.percentile(50)).padStart(9)}   p99 ${ms(times.percentile(99)).padStart(9)} ms`;
  });
  return [
    `${"█".repeat(filled)}${"░".repeat(BAR - filled)} ${point.second.toFixed(0)} of ${(lengthMs / 1_000).toFixed(0)} s`,
    `target ${target.toFixed(0)}/s   due ${point.due}   good ${point.good}   failed ${point.failed}   under way ${point.inFlight}   waiting ${point.waiting}`,
    row("last second", point.p50Ms, point.p99Ms, point.maxMs),
    row("so far", latency.percentile(50), latency.percentile(99), latency.max),
    `so far      good ${good}   failed ${failed}   more than 10 ms late ${recorder.lateOnes}`,
    ...operations,
  ];
}

const ms = (value: number): string => value.toFixed(2);
