import { parse } from "csv-parse/sync";
import { UsageError } from "./failures.js";

/** A row of a list of users, as its file says it. */
export interface Row {
  /** The line in the file, from 1. */
  readonly line: number;
  readonly email: string;
  readonly name: string;
  readonly admin: boolean;
  /** Names or ids. */
  readonly groups: readonly string[];
}

const COLUMNS = ["email", "name", "groups", "admin"];
const REQUIRED = ["email", "name"];
const MAX_BYTES = 2 ** 20;
const MAX_ROWS = 5_000;
const MAX_NAME = 200;
const ADMIN: Readonly<Record<string, boolean>> = { "": false, no: false, yes: true };

interface Parsed {
  readonly record: Readonly<Record<string, string>>;
  readonly info: { readonly lines: number };
}

/**
 * Reads a list of users: CSV (RFC 4180) in UTF-8, with a header. Columns are
 * email, name, groups (separated by semicolons) and admin (yes or no).
 *
 * @throws UsageError with every line that is wrong.
 */
export function readUserList(text: string): Row[] {
  if (Buffer.byteLength(text) > MAX_BYTES) throw new UsageError("the file is longer than 1 MiB: split it");
  const parsed = parsedOf(text);
  if (parsed.length === 0) throw new UsageError("the file has no rows after its header");
  if (parsed.length > MAX_ROWS) throw new UsageError(`the file has more than ${MAX_ROWS} rows: split it`);

  const rows = parsed.map(({ record, info }) => rowOf(record, info.lines));
  const seen = new Map<string, number>();
  const problems = parsed.flatMap(({ record, info: { lines } }) => {
    const found = problemsOf(record);
    const email = record.email?.toLowerCase() ?? "";
    if (seen.has(email)) found.push(`line ${seen.get(email)} has the same e-mail address`);
    seen.set(email, lines);
    return found.map((problem) => `line ${lines}: ${problem}`);
  });
  refuse(problems);
  return rows;
}

/** @throws UsageError with all problems of a list, if there are any. */
export function refuse(problems: readonly string[]): void {
  if (problems.length > 0) throw new UsageError(`nothing was changed; correct the file:\n${problems.join("\n")}`);
}

function parsedOf(text: string): Parsed[] {
  try {
    return parse(text, { bom: true, columns: headerOf, info: true, skip_empty_lines: true, trim: true }) as Parsed[];
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError(`the file is not CSV: ${(error as Error).message}`);
  }
}

function headerOf(header: readonly string[]): string[] {
  const names = header.map((name) => name.toLowerCase());
  const unknown = names.filter((name) => !COLUMNS.includes(name));
  const missing = REQUIRED.filter((name) => !names.includes(name));
  if (unknown.length === 0 && missing.length === 0) return names;
  const what = missing.length > 0 ? `it has no ${missing.join(" and no ")}` : `it has ${unknown.join(", ")}`;
  throw new UsageError(`the first line must name columns of ${COLUMNS.join(", ")}, with commas between them; ${what}`);
}

function rowOf({ email = "", name = "", groups = "", admin = "" }: Parsed["record"], line: number): Row {
  const names = groups.split(";").flatMap((group) => group.trim() || []);
  return { line, email, name, admin: ADMIN[admin.toLowerCase()] === true, groups: names };
}

function problemsOf({ email = "", name = "", admin = "" }: Parsed["record"]): string[] {
  return [
    ...(/^[^\s@]+@[^\s@]+$/.test(email) ? [] : [`${JSON.stringify(email.slice(0, 80))} is not an e-mail address`]),
    ...(name !== "" && name.length <= MAX_NAME ? [] : [`a name has 1 to ${MAX_NAME} characters`]),
    ...(admin.toLowerCase() in ADMIN ? [] : ["admin is yes or no"]),
  ];
}
