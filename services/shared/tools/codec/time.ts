import { create } from "@bufbuild/protobuf";
import { type Timestamp, TimestampSchema } from "@bufbuild/protobuf/wkt";

// Timestamps as proto JSON has them: RFC 3339, years 1 to 9999, up to nine
// digits of a second.

const TIME = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[-+]\d\d:\d\d)$/;
/** What follows the seconds. */
const REST = /^(?:\.(\d+))?(?:[Zz]|([-+])(\d\d):(\d\d))$/;
/** Where the rest begins; a time in whole seconds of UTC is one character longer. */
const SECONDS_END = 19;
/** Every month has at least this many days. */
const SURE_DAYS = 28;
const DAY = /^\d{4}-\d\d-\d\d$/;
const FIRST_S = -62135596800;
const LAST_S = 253402300799;
const DAY_S = 86_400;

/** Reads an RFC 3339 time, or a day alone, which is its first moment in UTC; undefined where it is neither. */
export function timestampOf(text: string): Timestamp | undefined {
  if (!TIME.test(text)) return DAY.test(text) ? timestampOf(`${text}T00:00:00Z`) : undefined;
  const year = twoDigits(text, 0) * 100 + twoDigits(text, 2);
  const [month, day] = [twoDigits(text, 5), twoDigits(text, 8)];
  const [hour, minute, second] = [twoDigits(text, 11), twoDigits(text, 14), twoDigits(text, 17)];
  // Years before 100 are not what Date.UTC takes them for.
  if (year < 100) return ancient(text);
  const midnight = Date.UTC(year, month - 1, day) / 1000;
  if (month < 1 || month > 12 || day < 1) return undefined;
  if (day > SURE_DAYS && new Date(midnight * 1000).getUTCDate() !== day) return undefined;
  if (hour > 23 || minute > 59 || second > 59) return undefined;
  let seconds = midnight + hour * 3600 + minute * 60 + second;
  let nanos = 0;
  if (text.length > SECONDS_END + 1) {
    const [, digits, sign, offsetHour = "0", offsetMinute = "0"] = REST.exec(text.slice(SECONDS_END)) ?? [];
    if (Number(offsetHour) > 23 || Number(offsetMinute) > 59) return undefined;
    seconds -= (sign === "-" ? -60 : 60) * (Number(offsetHour) * 60 + Number(offsetMinute));
    nanos = nanosOf(digits);
  }
  if (seconds < FIRST_S || seconds > LAST_S) return undefined;
  return { $typeName: TimestampSchema.typeName, seconds: BigInt(seconds), nanos };
}

function twoDigits(text: string, at: number): number {
  return text.charCodeAt(at) * 10 + text.charCodeAt(at + 1) - 528;
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
  const text = `${dateText(days)}T${clockText(total - days * DAY_S)}`;
  return nanos === 0 ? `${text}Z` : `${text}.${fractionText(nanos)}Z`;
}

/** The times of a list are mostly of few days: this number of dates is kept, each at the place of its day modulo the number. */
const KEPT_DAYS = 64;
const keptDays = new Float64Array(KEPT_DAYS).fill(Number.NaN);
const keptDates = new Array<string>(KEPT_DAYS).fill("");

/** The date of a day since the epoch. */
function dateText(days: number): string {
  const place = days & (KEPT_DAYS - 1);
  if (keptDays[place] !== days) {
    keptDates[place] = new Date(days * DAY_S * 1000).toISOString().slice(0, 10);
    keptDays[place] = days;
  }
  return keptDates[place] as string;
}

const TWO_DIGITS = Array.from({ length: 60 }, (_, i) => String(i).padStart(2, "0"));

function clockText(second: number): string {
  const hour = Math.floor(second / 3600);
  const minute = Math.floor(second / 60) % 60;
  return `${TWO_DIGITS[hour]}:${TWO_DIGITS[minute]}:${TWO_DIGITS[second % 60]}`;
}

const IN_MS = 1_000_000;

/** Nanoseconds as 3, 6 or 9 digits, as proto JSON writes them. */
export function fractionText(nanos: number): string {
  // Most times are in milliseconds.
  if (nanos % IN_MS === 0) return String(nanos / IN_MS).padStart(3, "0");
  return String(nanos)
    .padStart(9, "0")
    .replace(/(?:000){1,2}$/, "");
}
