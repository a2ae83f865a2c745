import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { Interval } from "#proto/cti/v1/statistics_service_pb.js";
import { dateOf } from "../../../shared/dates.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";

/** So many periods are told at most. */
const MOST_PERIODS = 400;

/** Periods that follow each other, by where they begin. */
export interface Periods {
  readonly starts: readonly Date[];
  readonly end: Date;
}

/** The periods from the one that a time is in until another. @throws ConnectError invalid_argument, for too many and for none. */
export function periodsOf(interval: Interval, start: Timestamp | undefined, end: Timestamp | undefined): Periods {
  const until = end === undefined ? new Date() : dateOf(end);
  const from = start === undefined ? until : dateOf(start);
  if (from > until) throw invalidArgument("end: must not be before start");
  const starts: Date[] = [];
  for (let at = beginOf(from, interval); at <= until; at = nextOf(at, interval)) {
    starts.push(at);
    if (starts.length > MOST_PERIODS)
      throw invalidArgument(
        `interval: the time range has more than ${MOST_PERIODS} periods; use a longer interval or a later start`,
      );
  }
  return { starts, end: until };
}

/** How many of these times are in each period. */
export function countedIn({ starts, end }: Periods, times: readonly (string | null)[]): number[] {
  const counts = starts.map(() => 0);
  for (const time of times) {
    const at = time === null ? Number.NaN : Date.parse(time);
    if (Number.isNaN(at) || at > end.getTime()) continue;
    const index = starts.findLastIndex((start) => start.getTime() <= at);
    if (index >= 0) counts[index] = (counts[index] ?? 0) + 1;
  }
  return counts;
}

/** Periods with their counts, as they are told. */
export const told = ({ starts }: Periods, counts: readonly (number | undefined)[]) =>
  starts.map((start, at) => ({ start: timestampFromDate(start), count: counts[at] ?? 0 }));

function beginOf(at: Date, interval: Interval): Date {
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  switch (interval) {
    case Interval.YEAR:
      return new Date(Date.UTC(year, 0, 1));
    case Interval.QUARTER:
      return new Date(Date.UTC(year, month - (month % 3), 1));
    case Interval.MONTH:
      return new Date(Date.UTC(year, month, 1));
    case Interval.WEEK:
      return new Date(Date.UTC(year, month, day - ((at.getUTCDay() + 6) % 7)));
    default:
      return new Date(Date.UTC(year, month, day));
  }
}

const MONTHS: Readonly<Partial<Record<Interval, number>>> = {
  [Interval.YEAR]: 12,
  [Interval.QUARTER]: 3,
  [Interval.MONTH]: 1,
};

function nextOf(at: Date, interval: Interval): Date {
  const months = MONTHS[interval] ?? 0;
  const days = months > 0 ? 0 : interval === Interval.WEEK ? 7 : 1;
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + months, at.getUTCDate() + days));
}
