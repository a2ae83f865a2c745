import { invalidArgument } from "../../../shared/rpc/errors.js";

/**
 * A day as an argument names it; an empty text, which takes a day away, as it is.
 *
 * @throws ConnectError invalid_argument for a day that no calendar has: the platform names its own filter in its
 * refusal, and where a list is narrowed here nobody would notice.
 */
export function dayOf(argument: string, day: string | undefined): string | undefined {
  if (day === undefined || day === "") return day;
  const at = new Date(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(at.getTime()) && at.toISOString().startsWith(day) && day >= FIRST;
  if (isDay) return day;
  throw invalidArgument(`${argument}: there is no such day; give a day of the calendar as YYYY-MM-DD`);
}

/** The platform has no year 0. */
const FIRST = "0001-01-01";
