/** A field of a Spring cron expression: the numbers that it takes, the words for them, and what else a part of it may be. */
interface Field {
  readonly name: string;
  readonly least: number;
  readonly most: number;
  /** Words stand for numbers from 1 on: a week ends on Sunday, so that MON-SUN is a range. */
  readonly words?: string;
  readonly special?: RegExp;
}

const FIELDS: readonly Field[] = [
  { name: "seconds", least: 0, most: 59 },
  { name: "minutes", least: 0, most: 59 },
  { name: "hours", least: 0, most: 23 },
  // Spring raises the letters of months and of days of the week alone: "l" is no last day.
  { name: "day of month", least: 1, most: 31, special: /^(?:L(?:-(?:[1-9]|[12]\d|30))?|LW|(\d{1,2})W)$/ },
  { name: "month", least: 1, most: 12, words: "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC" },
  {
    name: "day of week",
    least: 0,
    most: 7,
    words: "MON TUE WED THU FRI SAT SUN",
    special: /^(\w{1,3}?)(?:L|#[1-5])$/i,
  },
];
const [, , , DAY, MONTH, WEEKDAY] = FIELDS as [Field, Field, Field, Field, Field, Field];
/** The days of each month, in a leap year. */
const DAYS = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];

/**
 * What is wrong with a cron expression of six fields, seconds first, as Spring
 * reads it; undefined where nothing is. The platform stores any text, and then
 * never launches.
 */
export function cronProblem(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== FIELDS.length)
    return `has ${fields.length} fields but must have six, and the first is the seconds`;
  for (const [i, text] of fields.entries()) {
    const field = FIELDS[i] as Field;
    // Only of days it may be said that any will do.
    if (text === "?" && field.special !== undefined) continue;
    const bad = text.split(",").find((part) => !isPart(part, field));
    if (bad !== undefined) return `"${bad}" is not valid for the ${field.name}${hintFor(bad, field)}`;
  }
  const weekdays = numbersIn(fields[5] as string, WEEKDAY);
  if (/^(?:\w+W,?)+$/.test(fields[3] as string) && weekdays?.every((day) => day === 0 || day > 5) === true)
    return `never starts, because ${fields[3]} is a weekday and "${fields[5]}" is none`;
  const [days, months] = [numbersIn(fields[3] as string, DAY), numbersIn(fields[4] as string, MONTH)];
  if (days !== undefined && months?.every((month) => days.every((day) => day > (DAYS[month - 1] as number))))
    return `never starts, because no month of "${fields[4]}" has a day ${fields[3]}`;
  return undefined;
}

function isPart(part: string, field: Field): boolean {
  const [, day] = field.special?.exec(part) ?? [];
  if (field.special?.test(part) === true) return day === undefined || numberOf(day, field) !== undefined;
  const [, range = "", step] = /^([^/]+)(?:\/(\d{1,9}))?$/.exec(part) ?? [];
  if (step !== undefined && Number(step) === 0) return false;
  if (range === "*") return true;
  const ends = range.split("-").map((end) => numberOf(end, field));
  const [from, to = from] = ends;
  if (ends.length > 2 || ends.includes(undefined)) return false;
  // Sunday is 7 too, and begins a week.
  return (from as number) <= (to as number) || (from === 7 && field.most === 7);
}

function numberOf(text: string, { least, most, words = "" }: Field): number | undefined {
  const word = words.split(" ").indexOf(text.toUpperCase());
  if (word >= 0 && text !== "") return 1 + word;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  return number >= least && number <= most ? number : undefined;
}

/** The numbers of a field that lists nothing else. */
function numbersIn(text: string, field: Field): number[] | undefined {
  const numbers = text.split(",").map((part) => numberOf(part, field));
  return numbers.every((number) => number !== undefined) ? numbers : undefined;
}

function hintFor(part: string, field: Field): string {
  const [from, to] = part.split("-").map((end) => numberOf(end, field));
  if (from === undefined || to === undefined) return "";
  return `: a range cannot wrap around; give two, such as ${part.split("-")[0]}-${field.words?.split(" ").at(-1) ?? field.most},${field.words?.split(" ")[0] ?? field.least}-${part.split("-")[1]}`;
}
