import { functional } from "../errors.js";
import type { Thing } from "../thing.js";

const INTERVALS = ["year", "quarter", "month", "week", "day", "hour"];

/** Counts by period, empty periods included. */
export function timeSeriesOf(
  things: readonly Thing[],
  args: {
    readonly field: string;
    readonly startDate: string;
    readonly endDate?: string | null;
    readonly interval: string;
  },
) {
  if (!INTERVALS.includes(args.interval)) {
    throw functional(`Unsupported interval, please choose between ${INTERVALS.slice(0, -1).join(", ")} or hour`, {
      interval: args.interval,
    });
  }
  const from = new Date(args.startDate);
  const until = args.endDate ? new Date(args.endDate) : new Date();
  const times = things
    .map((thing) => Date.parse(String(timeOf(thing, args.field) ?? "")))
    .filter((at) => at >= from.getTime() && at <= until.getTime());
  // Periods are stepped from the start as it is, and found by the name that the
  // engine gives their beginning: quarters from the middle of one are not found.
  const named = (at: Date) =>
    args.interval === "quarter" ? at.toISOString().slice(0, 7) : floorOf(at, args.interval).toISOString();
  const counts = new Map<string, number>();
  for (const time of times) {
    const name = named(floorOf(new Date(time), args.interval));
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  const series: { date: string; value: number }[] = [];
  const first = args.interval === "quarter" ? from : floorOf(from, args.interval);
  for (let at = first; at <= until; at = nextOf(at, args.interval)) {
    const begin = floorOf(at, args.interval);
    // Weeks are counted from Monday and told as from Sunday.
    const told = args.interval === "week" ? new Date(begin.getTime() - 86_400_000) : begin;
    series.push({ date: told.toISOString(), value: counts.get(named(at)) ?? 0 });
  }
  return series;
}

function timeOf(thing: Thing, field: string): unknown {
  if (field === "created_at" || field === "created") return thing.createdAt;
  if (field === "updated_at" || field === "modified") return thing.updatedAt;
  return thing.attributes[field];
}

function floorOf(at: Date, interval: string): Date {
  const [year, month, day] = [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()];
  switch (interval) {
    case "year":
      return new Date(Date.UTC(year, 0, 1));
    case "quarter":
      return new Date(Date.UTC(year, month - (month % 3), 1));
    case "month":
      return new Date(Date.UTC(year, month, 1));
    case "week":
      return new Date(Date.UTC(year, month, day - ((at.getUTCDay() + 6) % 7)));
    case "day":
      return new Date(Date.UTC(year, month, day));
    default:
      return new Date(Date.UTC(year, month, day, at.getUTCHours()));
  }
}

function nextOf(at: Date, interval: string): Date {
  const next = new Date(at);
  if (interval === "hour") next.setUTCHours(at.getUTCHours() + 1);
  else if (interval === "day") next.setUTCDate(at.getUTCDate() + 1);
  else if (interval === "week") next.setUTCDate(at.getUTCDate() + 7);
  else next.setUTCMonth(at.getUTCMonth() + (interval === "month" ? 1 : interval === "quarter" ? 3 : 12));
  return next;
}
