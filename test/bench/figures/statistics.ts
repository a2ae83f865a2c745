// Medians of runs on machines whose other work comes and goes.

/** The middle value, or the mean of the two in the middle; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  const upper = sorted[half] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[half - 1] ?? Number.NaN) + upper) / 2;
}

/**
 * The median of the ratios of each round. Both values of a round were measured within a few seconds of each other, so
 * work of others that slows one round down is in both, and leaves the ratio as it is.
 */
export function pairedRatio(values: readonly number[], floor: readonly number[]): number {
  return median(values.flatMap((value, round) => (floor[round] === undefined ? [] : [value / floor[round]])));
}

/** A number as a reader compares it: three significant digits, and no fraction from 1,000 on. */
export function shown(value: number): string {
  if (!Number.isFinite(value)) return "–";
  if (Math.abs(value) >= 1_000) return Math.round(value).toLocaleString("en");
  return String(Number(value.toPrecision(3)));
}
