import type { Verb } from "./command.js";

/** Longest cell of a table, in characters: what is longer is cut there, and whole with --json. */
const MAX_CELL = 60;
const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;

/** What people see of an answer: lists as tables, one thing as its fields, times in local time. */
export function shown(answer: unknown, { columns, isUncut }: Pick<Verb, "columns" | "isUncut">): string {
  if (!isObject(answer)) return Array.isArray(answer) ? JSON.stringify(answer, null, 2) : said(answer);
  const lists = Object.entries(answer).filter((entry): entry is [string, object[]] => isTable(entry[1], columns));
  const [list] = lists;
  if (list === undefined || lists.length > 1) return fieldsOf(answer);
  const [name, rows] = list;
  const rest = Object.fromEntries(Object.entries(answer).filter(([other]) => other !== name));
  const table =
    rows.length === 0
      ? `no ${name.replaceAll("_", " ")}`
      : tableOf(rows, columns, isUncut === true ? Number.POSITIVE_INFINITY : MAX_CELL);
  return Object.keys(rest).length === 0 ? table : `${table}\n\n${fieldsOf(rest)}`;
}

/** One row of what goes on, without a heading. */
export function line(row: object, { columns = Object.keys(row) }: Pick<Verb, "columns">): string {
  return columns
    .map((name) => said((row as Record<string, unknown>)[name]))
    .filter((cell) => cell !== "")
    .join("  ");
}

function tableOf(rows: readonly object[], wanted: readonly string[] | undefined, most: number): string {
  const columns = wanted ?? [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const cells = rows.map((row) => columns.map((name) => cut(said((row as Record<string, unknown>)[name]), most)));
  const head = columns.map((name) => name.replaceAll("_", " ").toUpperCase());
  const widths = head.map((title, i) => Math.max(title.length, ...cells.map((row) => (row[i] as string).length)));
  return [head, ...cells]
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] as number))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function fieldsOf(answer: object): string {
  const fields = Object.entries(answer).filter(([, value]) => said(value) !== "");
  const width = Math.max(0, ...fields.map(([name]) => name.length));
  return fields.map(([name, value]) => `${name.replaceAll("_", " ").padEnd(width)}  ${said(value)}`).join("\n");
}

function said(value: unknown): string {
  if (value === undefined || value === null) return "";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value === "string") return ISO_TIME.test(value) ? localTime(new Date(value)) : value;
  if (Array.isArray(value) && value.every((item) => typeof item !== "object")) return value.join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

/** 2026-11-22 06:01:53, where this machine is. */
function localTime(at: Date): string {
  const two = (number: number): string => String(number).padStart(2, "0");
  const day = [at.getFullYear(), two(at.getMonth() + 1), two(at.getDate())].join("-");
  return `${day} ${[at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":")}`;
}

const cut = (text: string, most: number): string => (text.length > most ? `${text.slice(0, most - 1)}…` : text);
const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);
/** An empty list is one of rows where the verb shows rows, else a field with nothing in it. */
const isTable = (value: unknown, columns: readonly string[] | undefined): boolean =>
  Array.isArray(value) && value.every(isObject) && (value.length > 0 || columns !== undefined);
