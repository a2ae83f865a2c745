import { cpuOf, type Measured } from "./figures/group.js";
import { pairedRatio } from "./figures/statistics.js";

/** A ratio of CPU times that a change may not exceed. */
export interface Limit {
  /** The name of a shape of the façade. */
  readonly shape: string;
  /** The most that the façade may take, as a multiple of bare µWebSockets.js with the same bytes. */
  readonly ratio: number;
}

/** The limits of the gate, about a third above what was measured: machines are noisy, and a change that costs more shows. */
export const LIMITS: readonly Limit[] = [
  { shape: "tools/list 2026-07-28", ratio: 2.5 },
  { shape: "tools/list 2025-11-25", ratio: 2.5 },
  { shape: "tools/call 2026-07-28, 7 objects", ratio: 10.5 },
  { shape: "tools/call 2025-11-25, 7 objects", ratio: 10.5 },
];

/** What became of a limit. */
export interface Held extends Limit {
  readonly measured: number;
  readonly holds: boolean;
}

/** Compares the second row of a group with its floor. A ratio that could not be measured does not hold. */
export function held(limit: Limit, { rows }: Measured): Held {
  const [floor, own] = rows;
  const measured = floor === undefined || own === undefined ? Number.NaN : pairedRatio(cpuOf(own), cpuOf(floor));
  return { ...limit, measured, holds: measured <= limit.ratio };
}

/** The better of two measurements of the same limits: work of others makes a ratio worse, and never a slow change fast. */
export function better(first: readonly Held[], again: readonly Held[]): Held[] {
  return first.map((one) => {
    const other = again.find(({ shape }) => shape === one.shape);
    return other?.holds === true ? other : one;
  });
}

/** A limit in words. */
export function sentenceOf({ shape, ratio, measured, holds }: Held): string {
  return `${holds ? "Holds" : "Fails"}: ${shape} takes ${measured.toFixed(2)} × bare µWebSockets.js; the limit is ${ratio}.`;
}
