// When a service that is too busy wants to be asked again. Only what it says in plain numbers and dates is believed.

/** Longest wait that is believed, in milliseconds: a day. */
const LONGEST_MS = 86_400_000;
/** The header in which told-plainly.ts puts what a body says of it. */
export const IN_BODY = "x-told-retry-after";
/** Headers by which services say when a limit ends, in the order in which they are asked. */
const RESETS = [
  "x-ratelimit-reset-after",
  "x-ratelimit-reset-requests",
  "x-ratelimit-reset-tokens",
  "anthropic-ratelimit-requests-reset",
  "anthropic-ratelimit-tokens-reset",
  "x-ratelimit-reset",
  "ratelimit-reset",
];
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** In how many milliseconds a service wants to be asked again; undefined if it does not say. */
export function waitOf(headers: Pick<Headers, "get">, now = Date.now()): number | undefined {
  const exact = Number(headers.get("retry-after-ms") ?? Number.NaN);
  if (exact >= 0) return bounded(exact);
  const after = msIn(headers.get("retry-after") ?? headers.get(IN_BODY), now);
  if (after !== undefined) return after;
  // Several limits may be near their end: the one that is used up is the one that takes longest.
  const waits = RESETS.flatMap((name) => msIn(headers.get(name), now) ?? []);
  return waits.length === 0 ? undefined : Math.max(...waits);
}

/** Seconds, a date, seconds or milliseconds since 1970, or spans such as 6m0s and 20ms. */
function msIn(value: string | null, now: number): number | undefined {
  const text = (value ?? "").trim().slice(0, 64);
  if (text === "") return undefined;
  const number = Number(text);
  if (Number.isFinite(number)) {
    if (number < 0) return undefined;
    if (number > 1e11) return bounded(number - now);
    return bounded(number > 1e9 ? number * 1_000 - now : number * 1_000);
  }
  const spans = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)];
  if (spans.length > 0 && spans.map(([whole]) => whole).join("") === text)
    return bounded(spans.reduce((sum, [, count, unit]) => sum + Number(count) * (UNITS[unit as string] as number), 0));
  const date = Date.parse(text);
  return Number.isNaN(date) ? undefined : bounded(date - now);
}

function bounded(ms: number): number {
  return Math.min(LONGEST_MS, Math.max(0, Math.ceil(ms)));
}
