import { type Timestamp, timestampDate } from "@bufbuild/protobuf/wkt";

const relative = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
const day = new Intl.DateTimeFormat("en", { dateStyle: "medium" });
const full = new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" });

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
];

/** "3 hours ago"; the day of what is longer ago than a month. */
export function ago(at: Timestamp): string {
  const seconds = (timestampDate(at).getTime() - Date.now()) / 1000;
  if (Math.abs(seconds) > 30 * 86_400) return day.format(timestampDate(at));
  for (const [unit, size] of STEPS) {
    if (Math.abs(seconds) >= size) return relative.format(Math.round(seconds / size), unit);
  }
  return "just now";
}

/** The day, in the reader's words. */
export const onDay = (at: Timestamp) => day.format(timestampDate(at));
/** Day and time, to the second. */
export const exactly = (at: Timestamp) => full.format(timestampDate(at));
