import { UsageError } from "./failures.js";

const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Milliseconds of a span such as 90d, 12h, 30m or 45s. @throws UsageError that names the flag. */
export function spanOf(text: string, flag: string): number {
  const [, number, unit] = /^([1-9][0-9]{0,5})([smhd])$/.exec(text) ?? [];
  if (number === undefined || unit === undefined)
    throw new UsageError(`${flag} must be a duration such as 90d, 12h or 30m`);
  return Number(number) * (UNIT_MS[unit] as number);
}

/** A moment: so long ago, or by date and time (where this machine is, unless it says otherwise). @throws UsageError that names the flag. */
export function momentOf(text: string, flag: string, now = Date.now()): Date {
  if (/^[0-9]+[smhd]$/.test(text)) return new Date(now - spanOf(text, flag));
  // A date alone would be read as UTC, and a date with a time where this machine is.
  const at = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text.replace(" ", "T"));
  if (Number.isNaN(at.getTime())) {
    throw new UsageError(
      `${flag} must be a duration such as 2h, or a time such as 2026-11-22T08:00 or 2026-11-22T08:00Z`,
    );
  }
  return at;
}
