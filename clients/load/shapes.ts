import type { Stage } from "./schedule.js";

/** The shapes that have a name; any other shape is given by its stages. */
export const SHAPES = ["soak", "ramp", "spike"] as const;
/** The name of a shape. */
export type Shape = (typeof SHAPES)[number];

/** What a shape is made of. */
export interface ShapeInput {
  /** Seconds in all. */
  readonly seconds: number;
  /** Requests per second: of a soak throughout, of a ramp at its end, of a spike before and after it. */
  readonly rate: number;
  /** Requests per second at the beginning of a ramp. */
  readonly from: number;
  /** Requests per second at the top of a spike. */
  readonly peak: number;
}

/** The share of its time for which a spike is at its peak, in the middle. */
const PEAK_SHARE = 0.2;

/** The stages of a shape. */
export function stagesOf(shape: Shape, { seconds, rate, from, peak }: ShapeInput): readonly Stage[] {
  if (shape === "soak") return [{ seconds, from: rate, to: rate }];
  if (shape === "ramp") return [{ seconds, from, to: rate }];
  const side = { seconds: (seconds * (1 - PEAK_SHARE)) / 2, from: rate, to: rate };
  return [side, { seconds: seconds * PEAK_SHARE, from: peak, to: peak }, side];
}

const STAGE = /^(\d+(?:\.\d+)?):(\d+(?:\.\d+)?)(?:-(\d+(?:\.\d+)?))?$/;

/**
 * Reads stages such as `30:100-1000,60:1000`: 30 seconds from 100 to 1,000
 * requests per second, then 60 seconds at 1,000.
 *
 * @throws Error that says what a stage looks like.
 */
export function readStages(text: string): readonly Stage[] {
  return text.split(",").map((one) => {
    const [, seconds, from, to = from] = STAGE.exec(one.trim()) ?? [];
    if (seconds === undefined || Number(seconds) === 0) {
      throw new Error(
        `must be stages such as 30:100-1000,60:1000 (seconds:rate, or seconds:from-to); "${one}" is not one`,
      );
    }
    return { seconds: Number(seconds), from: Number(from), to: Number(to) };
  });
}
