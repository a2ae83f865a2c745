import { randomOf } from "./random.js";

const DRAWS = 10_000;

/** The mean of some values, which are not empty. */
export const mean = (values: readonly number[]): number => values.reduce((sum, one) => sum + one, 0) / values.length;

/** What the means of 95 of 100 draws of these values lie between (bootstrap, the same each time). */
export function intervalOf(values: readonly number[]): [least: number, most: number] {
  const random = randomOf(1);
  const draw = (): number => values[Math.floor(random() * values.length)]!;
  const means = Array.from({ length: DRAWS }, () => mean(values.map(draw))).sort((a, b) => a - b);
  return [means[DRAWS * 0.025]!, means[DRAWS * 0.975 - 1]!];
}
