/** The fields of a Spring cron expression, with the numbers and words that each takes. */
const FIELDS: readonly (readonly [name: string, least: number, most: number, words: string])[] = [
  ["seconds", 0, 59, ""],
  ["minutes", 0, 59, ""],
  ["hours", 0, 23, ""],
  ["day of month", 1, 31, "L W"],
  ["month", 1, 12, "JAN FEB MAR APR MAY JUN JUL AUG SEP OCT NOV DEC"],
  ["day of week", 0, 7, "SUN MON TUE WED THU FRI SAT L"],
];

/**
 * What is wrong with a cron expression of six fields, seconds first, as Spring
 * reads it; undefined where nothing is. The platform stores any text, and then
 * never launches.
 */
export function cronProblem(expression: string): string | undefined {
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== FIELDS.length)
    return `has ${fields.length} fields but must have six, and the first is the seconds`;
  for (const [i, field] of fields.entries()) {
    const [name, least, most, words] = FIELDS[i] as (typeof FIELDS)[number];
    const bad = field.split(",").find((part) => !isPart(part, least, most, words.split(" ")));
    if (bad !== undefined) return `"${bad}" is not valid for the ${name}`;
  }
  return undefined;
}

function isPart(part: string, least: number, most: number, words: readonly string[]): boolean {
  const [, range = "", step] = /^([^/]+)(?:\/(\d{1,4}))?$/.exec(part) ?? [];
  if (step !== undefined && Number(step) === 0) return false;
  if (range === "*" || range === "?") return true;
  const ends = range.replace(/(?:#[1-5]|[LW])$/, (mark) => (range === mark ? mark : "")).split("-");
  if (ends.length > 2) return false;
  return ends.every((end) => {
    if (words.includes(end.toUpperCase()) && end !== "") return true;
    return /^\d{1,2}$/.test(end) && Number(end) >= least && Number(end) <= most;
  });
}
