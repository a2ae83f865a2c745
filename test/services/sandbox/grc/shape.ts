const CUT = "…";
const UUID = /^[0-9a-f]{8}-/;

/**
 * How an answer differs in shape from a recorded one: names and types of
 * fields, not values. Null stands for any type, a text that is only "…" for
 * anything, and a map by ids is held by its first entry.
 */
export function differencesOf(recorded: unknown, actual: unknown, at = "$"): string[] {
  if (recorded === CUT || recorded === null || actual === null) return [];
  if (Array.isArray(recorded)) {
    if (!Array.isArray(actual)) return [`${at}: a list became ${typeof actual}`];
    if (actual.some(isHidden) !== recorded.some(isHidden) && recorded.some(isHidden))
      return [`${at}: nothing is hidden`];
    if (recorded.length === 0 || actual.length === 0) return [];
    return differencesOf(recorded[0], actual[0], `${at}[]`);
  }
  if (typeof recorded !== typeof actual) return [`${at}: ${typeof recorded} became ${typeof actual}`];
  if (typeof recorded !== "object" || typeof actual !== "object") return [];
  const [was, is] = [recorded as Record<string, unknown>, actual as Record<string, unknown>];
  const names = Object.keys(was).filter((name) => name !== CUT);
  if (names.length > 0 && names.every((name) => UUID.test(name))) {
    return differencesOf(was[names[0]!], Object.values(is)[0], `${at}{}`);
  }
  const missing = names.filter((name) => !(name in is)).map((name) => `${at}.${name}: is missing`);
  const more = CUT in was ? [] : Object.keys(is).filter((name) => !(name in was));
  const added = more.map((name) => `${at}.${name}: was not there`);
  const inside = names
    .filter((name) => name in is)
    .flatMap((name) => differencesOf(was[name], is[name], `${at}.${name}`));
  return [...missing, ...added, ...inside];
}

function isHidden(item: unknown): boolean {
  return typeof item === "object" && item !== null && Object.keys(item).length === 0;
}
