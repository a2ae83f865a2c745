import type { Tool } from "../../services/shared/tools/tools.js";

/** The columns of the table, in its order. What fits none of the first five is `other`. */
export const COLUMNS = ["list", "read", "create", "update", "delete", "other"] as const;
export type Column = (typeof COLUMNS)[number];

/** A kind of object, with the tools that do something with it. */
export interface Kind {
  /** In the singular and in words, such as "asset group". */
  readonly name: string;
  readonly toolsets: readonly string[];
  readonly tools: Readonly<Record<Column, readonly string[]>>;
}

/** Where a verb of docs/api-style.md stands in the table; a verb that is not here is `other`. */
const COLUMN_OF: Readonly<Record<string, Column>> = {
  list: "list",
  search: "list",
  inspect: "list",
  get: "read",
  read: "read",
  load: "read",
  lookup: "read",
  find: "read",
  whoami: "read",
  create: "create",
  duplicate: "create",
  upload: "create",
  update: "update",
  set: "update",
  add: "update",
  remove: "update",
  attach: "update",
  delete: "delete",
  merge: "delete",
};

/** What a tool's name says: its verb's column, and the object in the singular. */
interface Named {
  readonly tool: Tool;
  readonly column: Column;
  readonly noun: string;
}

/** The kinds of one server, in the order of its tools: read from their names, and from the ids that they require. */
export function kindsOf(tools: readonly Tool[]): Kind[] {
  const named = tools.map(namedOf);
  const strong = strongNouns(named);
  const rows = new Map<string, Kind & { readonly tools: Record<Column, string[]>; readonly toolsets: string[] }>();
  const firstOf = new Map<string, string>();
  for (const one of named) {
    const { noun, column } = placeOf(one, named, strong, firstOf.get(one.tool.toolset));
    if (!firstOf.has(one.tool.toolset)) firstOf.set(one.tool.toolset, noun);
    const row = rows.get(noun) ?? { name: noun.replaceAll("_", " "), toolsets: [], tools: emptyColumns() };
    row.tools[column].push(one.tool.name);
    if (!row.toolsets.includes(one.tool.toolset)) row.toolsets.push(one.tool.toolset);
    rows.set(noun, row);
  }
  return [...rows.values()];
}

/** Objects of their own: a tool lists them or makes them, and another is about them, or about a part of them. */
function strongNouns(named: readonly Named[]): Set<string> {
  const isStrong = ({ noun, tool }: Named): boolean => {
    const own = named.filter((other) => other.noun === noun);
    const has = new Set(own.map(({ column }) => column));
    const isListed = named.some(
      (other) =>
        other.column === "list" &&
        !isSearch(other.tool) &&
        (other.noun === noun || (other.noun.endsWith(`_${noun}`) && other.tool.toolset === tool.toolset)),
    );
    const isOther = ({ noun: other, column }: Named): boolean =>
      column !== "list" && (other === noun || other.startsWith(`${noun}_`));
    if (isListed) return has.size > 0 && named.some(isOther);
    return (has.has("read") || has.has("create")) && (has.has("update") || has.has("delete"));
  };
  return new Set(named.filter(isStrong).map(({ noun }) => noun));
}

/** The row and the column of one tool. A tool about a part or a variant of a kind is in that kind's row. */
function placeOf(
  { tool, column, noun }: Named,
  named: readonly Named[],
  strong: ReadonlySet<string>,
  firstOfToolset: string | undefined,
): { readonly noun: string; readonly column: Column } {
  if (strong.has(noun)) return { noun, column };
  const isList = column === "list";
  const inToolset = (kind: string): boolean =>
    named.some((other) => other.noun === kind && other.tool.toolset === tool.toolset);
  // list_entity_indicators and list_primary_assets: one kind, found in another way.
  const variantOf = longest(strong, (kind) => noun.endsWith(`_${kind}`) && (!isList || inToolset(kind)));
  const partOf = longest(strong, (kind) => noun.startsWith(`${kind}_`) && (!isList || takesId(tool)));
  if (isList && !isSearch(tool)) {
    if (variantOf !== undefined) return { noun: variantOf, column };
    return partOf === undefined ? { noun, column } : { noun: partOf, column: "read" };
  }
  const given = [...strong].filter((kind) => requiredOf(tool).includes(`${kind}_id`));
  const widerThan = longest(strong, (kind) => kind.startsWith(`${noun}_`) && inToolset(kind));
  const whole = given.find((kind) => kind === partOf) ?? given[0] ?? partOf ?? variantOf ?? widerThan;
  if (whole !== undefined) {
    const isChanged = tool.name.startsWith("upload_") || column === "delete";
    return { noun: whole, column: isChanged ? "update" : column };
  }
  if (column === "read" || column === "other") return { noun: firstOfToolset ?? noun, column };
  return { noun, column };
}

function longest(kinds: Iterable<string>, fits: (kind: string) => boolean): string | undefined {
  return [...kinds].filter(fits).sort((a, b) => b.length - a.length)[0];
}

/** Whether it looks in objects of several kinds, so that what it names need not be a kind. */
const isSearch = ({ name }: Tool): boolean => name.startsWith("search_");

/** Whether it lists the parts of the one object whose id it must be given. */
const takesId = (tool: Tool): boolean => requiredOf(tool).some((name) => name.endsWith("_id"));

function requiredOf({ listing }: Tool): readonly string[] {
  return (listing.inputSchema as { readonly required?: readonly string[] }).required ?? [];
}

function namedOf(tool: Tool): Named {
  const [verb = "", ...rest] = tool.name.split("_");
  return {
    tool,
    column: COLUMN_OF[verb] ?? "other",
    noun: rest.length === 0 ? tool.toolset : singular(rest.join("_")).replace(/^all$/, "all_kinds"),
  };
}

/** `courses_of_action` is `course_of_action`; `malware` stays. */
function singular(noun: string): string {
  const [head = "", ...tail] = noun.split(/(?=_of_)/);
  const one = head.endsWith("ies") ? `${head.slice(0, -3)}y` : head.replace(/(?<=x|ss|sh|ch)es$|(?<!s)s$/, "");
  return [one, ...tail].join("");
}

function emptyColumns(): Record<Column, string[]> {
  return { list: [], read: [], create: [], update: [], delete: [], other: [] };
}
