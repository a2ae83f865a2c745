/** Bytes of what is long: its owner may have few at work at a time, so that the short find a place. */
export const LONG = 256 * 1024;
/** The head start of a document up to so many bytes, in milliseconds. */
const HEAD_STARTS = [
  [32 * 1024, 3_600_000],
  [LONG, 1_800_000],
  [2 ** 20, 600_000],
] as const;

/**
 * When a document that comes now may be taken up. Who is due first is taken up first, so that a shorter document goes
 * before longer ones that came up to so much earlier; those do not wait for ever.
 */
export function dueOf(bytes: number, now = Date.now()): Date {
  const [, ms] = HEAD_STARTS.find(([most]) => bytes <= most) ?? [0, 0];
  return new Date(now - ms);
}
