import { readFileSync } from "node:fs";

// What an OpenAEV 2.4.0 answered, by kind: recorded.snap.json holds the
// exchanges of the routes that the sandbox serves, each with its status and the
// shape of its body (keys and types, lists by their merged item).

/** "string", "number", "boolean", "null"; "*" for anything; "empty" for no body. */
export type Shape = string | readonly Shape[] | { readonly [key: string]: Shape };

export interface RecordedExchange {
  readonly line: number;
  readonly tool: string;
  readonly as: string;
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status: number;
  readonly shape: number;
  readonly note?: string;
  /** The id of the object it made. */
  readonly made?: string;
}

interface Recording {
  /** How many exchanges were recorded in all. */
  readonly recorded: number;
  readonly shapes: readonly Shape[];
  readonly exchanges: readonly RecordedExchange[];
}

export const RECORDING = JSON.parse(
  readFileSync(new URL("./recorded.snap.json", import.meta.url), "utf8"),
) as Recording;

/**
 * Where a value differs from a shape: paths with what was expected. Null fits
 * everything and everything fits null: the two worlds hold different objects.
 */
export function differences(value: unknown, shape: Shape, at = "$"): string[] {
  if (shape === "*" || shape === "null" || value === null) return [];
  if (shape === "empty") return value === undefined ? [] : [`${at}: expected no body`];
  if (typeof shape === "string") {
    const fits = typeof value === shape;
    return fits ? [] : [`${at}: expected ${shape}, found ${typeof value}`];
  }
  if (Array.isArray(shape)) {
    if (!Array.isArray(value)) return [`${at}: expected a list`];
    const [item] = shape as Shape[];
    return item === undefined ? [] : value.flatMap((one) => differences(one, item, `${at}[]`));
  }
  if (typeof value !== "object" || Array.isArray(value)) return [`${at}: expected an object`];
  const held = value as Record<string, unknown>;
  const shapes = new Map(
    Object.entries(shape as Record<string, Shape>).map(([key, one]) => [key.replace(/\?$/, ""), one]),
  );
  const optional = new Set(Object.keys(shape).flatMap((key) => (key.endsWith("?") ? [key.slice(0, -1)] : [])));
  return [
    ...[...shapes].flatMap(([key, one]) =>
      key in held ? differences(held[key], one, `${at}.${key}`) : optional.has(key) ? [] : [`${at}.${key}: missing`],
    ),
    ...Object.keys(held).flatMap((key) => (shapes.has(key) ? [] : [`${at}.${key}: not there on the platform`])),
  ];
}
