const MAX_ROWS = 3;
const MAX_TEXT = 140;

/**
 * The kept fields of an answer, with lists cut to their first rows and long texts to their beginning.
 *
 * @throws Error if the answer has none of the fields that a path names.
 */
export function cut(value: unknown, keep: readonly string[], rows = MAX_ROWS): unknown {
  for (const path of keep) {
    if (!has(value, path.split("."))) throw new Error(`the answer has no ${path}: ${JSON.stringify(value)}`);
  }
  return kept(value, keep, rows);
}

function kept(value: unknown, keep: readonly string[], rows: number): unknown {
  if (Array.isArray(value)) {
    const more = value.length > rows ? [`… ${value.length - rows} more`] : [];
    return [...value.slice(0, rows).map((one) => kept(one, keep, rows)), ...more];
  }
  if (typeof value === "string" && value.length > MAX_TEXT) return `${value.slice(0, MAX_TEXT)}…`;
  if (typeof value !== "object" || value === null) return value;
  const whole = keep.length === 0;
  const entries = Object.entries(value).flatMap(([name, inner]) => {
    const paths = keep.filter((path) => path === name || path.startsWith(`${name}.`));
    if (!whole && paths.length === 0) return [];
    const below = paths.includes(name) ? [] : paths.map((path) => path.slice(name.length + 1));
    return [[name, kept(inner, below, rows)] as const];
  });
  return Object.fromEntries(entries);
}

function has(value: unknown, [name, ...below]: readonly string[]): boolean {
  if (name === undefined) return value !== undefined;
  if (Array.isArray(value)) return value.some((one) => has(one, [name, ...below]));
  return typeof value === "object" && value !== null && has((value as Record<string, unknown>)[name], below);
}

/** JSON with everything that fits on one line, and the rest by members. */
export function written(value: unknown, indent = "", width = 118): string {
  const line = oneLine(value);
  if (typeof value !== "object" || value === null || indent.length + line.length <= width) return line;
  const deeper = `${indent}  `;
  const parts = Array.isArray(value)
    ? value.map((one) => written(one, deeper, width))
    : Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${written(one, deeper, width)}`);
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return `${open}\n${parts.map((part) => `${deeper}${part}`).join(",\n")}\n${indent}${close}`;
}

function oneLine(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(oneLine).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const parts = Object.entries(value).map(([name, one]) => `${JSON.stringify(name)}: ${oneLine(one)}`);
  return `{${parts.join(", ")}}`;
}
