/** A part of a schedule: the rate goes evenly from one value to another. */
export interface Stage {
  readonly seconds: number;
  /** Requests per second at its beginning. */
  readonly from: number;
  /** Requests per second at its end. */
  readonly to: number;
}

/** When each request is due, whatever the server does. */
export interface Schedule {
  /** Requests in all. */
  readonly count: number;
  /** Milliseconds from the first stage's beginning to the last one's end. */
  readonly lengthMs: number;
  /** When request k is due, in milliseconds after the beginning; k is 0 to count - 1. */
  dueAt(k: number): number;
  /** Requests per second that are due at a time; 0 after the end. */
  rateAt(ms: number): number;
}

/** What floating point may add to a whole number of requests. */
const ROUNDING = 1e-6;

/**
 * The schedule of an open model. Request k is due when the area under the rate
 * reaches k: at a constant rate they are evenly spaced, on a ramp ever closer.
 *
 * @throws RangeError for stages without a request.
 */
export function createSchedule(stages: readonly Stage[]): Schedule {
  const parts: Part[] = [];
  let before = 0;
  let start = 0;
  for (const stage of stages) {
    const after = before + ((stage.from + stage.to) / 2) * stage.seconds;
    parts.push({ ...stage, before, after, start });
    before = after;
    start += stage.seconds;
  }
  const count = Math.ceil(before - ROUNDING);
  if (!(count >= 1)) throw new RangeError("the stages send no request: give a higher rate or more seconds");
  return {
    count,
    lengthMs: start * 1_000,
    dueAt: (k) => {
      const part = parts.find(({ after }) => k < after) ?? parts.findLast(({ after, before }) => after > before);
      return ((part as Part).start + secondsInto(part as Part, k)) * 1_000;
    },
    rateAt: (ms) => {
      const at = ms / 1_000;
      const part = parts.find(({ start, seconds }) => at < start + seconds);
      return part === undefined ? 0 : part.from + ((part.to - part.from) * (at - part.start)) / part.seconds;
    },
  };
}

interface Part extends Stage {
  /** Requests due before it begins. */
  readonly before: number;
  /** Requests due when it ends. */
  readonly after: number;
  /** Seconds before it begins. */
  readonly start: number;
}

/** How many seconds after the beginning of a stage its area reaches k. */
function secondsInto({ before, seconds, from, to }: Part, k: number): number {
  const area = k - before;
  if (area <= 0) return 0;
  const slope = (to - from) / seconds;
  // The root of slope/2·t² + from·t = area, in the form that stays exact for a slope near 0.
  const root = from + Math.sqrt(Math.max(0, from * from + 2 * slope * area));
  return Math.min(seconds, (2 * area) / root);
}
