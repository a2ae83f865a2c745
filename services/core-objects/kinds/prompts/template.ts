import { invalidArgument } from "../../../shared/rpc/errors.js";
import type { PromptArgumentRecord } from "./record.js";

/** `{{name}}`, white space around the name or not; other braces are text. */
const PLACE = /\{\{\s*([A-Za-z][A-Za-z0-9_]*)\s*\}\}/g;

/** The longest text that a filled-in template gives, in characters. */
const MAX_TEXT = 200_000;

/**
 * Checks that a template and its arguments name each other.
 *
 * @throws ConnectError invalid_argument that names the arguments that only one of them has.
 */
export function checkTemplate(template: string, args: readonly PromptArgumentRecord[]): void {
  const named = new Set([...template.matchAll(PLACE)].map(([, name]) => name!));
  const known = new Set(args.map(({ name }) => name));
  const unknown = [...named].filter((name) => !known.has(name));
  if (unknown.length > 0)
    throw invalidArgument(
      `the template uses ${unknown.join(", ")}, which arguments does not have: add it to arguments`,
    );
  const unused = [...known].filter((name) => !named.has(name));
  if (unused.length > 0)
    throw invalidArgument(
      `the template does not use ${unused.join(", ")}: write {{${unused[0]}}} in it, or omit the argument`,
    );
}

/**
 * Fills a template in. What is filled in is not looked at again.
 *
 * @param values by the names of the arguments; empty for one that need not be given.
 * @throws ConnectError invalid_argument for an argument that is missing or unknown, or for a text that is too long.
 */
export function fill(
  template: string,
  args: readonly PromptArgumentRecord[],
  values: Readonly<Record<string, string>>,
): string {
  const given = new Map(Object.entries(values));
  const known = args.map(({ name }) => name);
  const unknown = [...given.keys()].filter((name) => !known.includes(name));
  const takes = known.length === 0 ? "it takes no arguments" : `its arguments are ${known.join(", ")}`;
  if (unknown.length > 0) throw invalidArgument(`the prompt has no argument ${unknown.join(", ")}; ${takes}`);
  const missing = args.filter(({ name, required }) => required && (given.get(name) ?? "") === "");
  if (missing.length > 0)
    throw invalidArgument(`the prompt needs ${missing.map(({ name }) => name).join(", ")}; ${takes}`);
  let characters = template.length;
  for (const [, name] of template.matchAll(PLACE)) characters += given.get(name!)?.length ?? 0;
  if (characters > MAX_TEXT)
    throw invalidArgument(`the text would be longer than ${MAX_TEXT} characters: give shorter arguments`);
  return template.replace(PLACE, (_, name: string) => given.get(name) ?? "");
}
