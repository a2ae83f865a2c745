// How services say how much a model reads at a time, when they refuse what is longer.

const SAID = [
  /context (?:length|window|size)[^.\d]{0,40}(\d[\d,]{2,11})/i,
  /> ?(\d[\d,]{2,11})/,
  /(?:maximum|limit|up to|at most)[^.\d]{0,40}(\d[\d,]{2,11})/i,
];
const MAX_WORDS = 2_000;
const [LEAST, MOST] = [500, 100_000_000];

/** The tokens that a refusal states; undefined if it states none. */
export function windowIn(words: string): number | undefined {
  for (const pattern of SAID) {
    const tokens = Number(pattern.exec(words.slice(0, MAX_WORDS))?.[1]?.replaceAll(",", ""));
    if (tokens >= LEAST && tokens <= MOST) return tokens;
  }
  return undefined;
}
