import { create } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";

// Timestamps as proto JSON has them: RFC 3339, years 1 to 9999, up to nine
// digits of a second.

const TIME = /^(\d{4})-(\d\d)-(\d\d)[Tt](\d\d):(\d\d):(\d\d)(?:\.(\d{1,9}))?(?:[Zz]|([-+])(\d\d):(\d\d))$/;
const DAY = /^\d{4}-\d\d-\d\d$/;
const FIRST_S = -62135596800;
const LAST_S = 253402300799;
const DAY_S = 86_400;

/** Reads an RFC 3339 time, or a day alone, which is its first moment in UTC; undefined where it is neither. */
export function timestampOf(text: string): Timestamp | undefined {
  const parts = TIME.exec(text);
  if (parts === null) return DAY.test(text) ? timestampOf(`${text}T00:00:00Z`) : undefined;
  const [, year, month, day, hour, minute, second, digits, sign, offsetHour, offsetMinute] = parts;
  const midnight = Date.UTC(Number(year), Number(month) - 1, Number(day)) / 1000;
  const date = new Date(midnight * 1000);
  // Years before 100 are not what Date.UTC takes them for, and a day beyond its month is no day.
  if (Number(year) < 100) return ancient(text);
  if (date.getUTCDate() !== Number(day) || date.getUTCMonth() !== Number(month) - 1) return undefined;
  if (Number(hour) > 23 || Number(minute) > 59 || Number(second) > 59) return undefined;
  if (Number(offsetHour ?? 0) > 23 || Number(offsetMinute ?? 0) > 59) return undefined;
  const offset = (sign === "-" ? -60 : 60) * (Number(offsetHour ?? 0) * 60 + Number(offsetMinute ?? 0));
  const seconds = midnight + Number(hour) * 3600 + Number(minute) * 60 + Number(second) - offset;
  if (seconds < FIRST_S || seconds > LAST_S) return undefined;
  return { $typeName: TimestampSchema.typeName, seconds: BigInt(seconds), nanos: nanosOf(digits) };
}

function ancient(text: string): Timestamp | undefined {
  const ms = Date.parse(text.replace(/\.\d+/, ""));
  if (Number.isNaN(ms) || ms / 1000 < FIRST_S) return undefined;
  return create(TimestampSchema, { seconds: BigInt(ms / 1000), nanos: nanosOf(/\.(\d+)/.exec(text)?.[1]) });
}

function nanosOf(digits: string | undefined): number {
  return digits === undefined ? 0 : Number(digits.padEnd(9, "0"));
}

/** Writes a time in UTC. */
export function timeText({ seconds, nanos }: Timestamp): string {
  const total = Number(seconds);
  const days = Math.floor(total / DAY_S);
  const text = `${dayText(days)}T${clockText(total - days * DAY_S)}`;
  return nanos === 0 ? `${text}Z` : `${text}.${fractionText(nanos)}Z`;
}

let lastDay = Number.NaN;
let lastText = "";

/** The date of a day since the epoch; a list's times are mostly of few days. */
function dayText(days: number): string {
  if (days !== lastDay) {
    lastText = new Date(days * DAY_S * 1000).toISOString().slice(0, 10);
    lastDay = days;
  }
  return lastText;
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, "0"));

function clockText(second: number): string {
  const hour = Math.floor(second / 3600);
  const minute = Math.floor(second / 60) % 60;
  return `${TWO_DIGITS[hour]}:${TWO_DIGITS[minute]}:${TWO_DIGITS[second % 60]}`;
}

/** Nanoseconds as 3, 6 or 9 digits, as proto JSON writes them. */
export function fractionText(nanos: number): string {
  return String(nanos)
    .padStart(9, "0")
    .replace(/(?:000){1,2}$/, "");
}
