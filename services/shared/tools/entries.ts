import { setImmediate as nextTurn } from "node:timers/promises";
import { takesTenant } from "./narrowing.js";
import type { JsonSchema } from "./schema.js";
import { TENANT_ARGUMENT } from "./tenant.js";
import type { Tool } from "./tools.js";
import { type NamesIn, namesFinder, withoutNames } from "./without-names.js";

/** How long after the start entries are prepared that nobody has asked for, in milliseconds. */
const PREPARE_AFTER_MS = 500;
/** Texts that are kept of each description because somebody lacks what it names; one takes some 200 bytes. */
const MAX_KEPT = 16;

/** What one caller sees of a server through one URL. */
export interface Seen {
  /** The tools of the list, in file order. */
  readonly tools: readonly Tool[];
  /** Tools that the caller may use and that the URL alone leaves out. */
  readonly leftOut: readonly Tool[];
  readonly outputSchemas: boolean;
  /** The URL says which tenant all calls are for: the argument leaves the schemas. */
  readonly isPinned: boolean;
}

/** The entries of tools/list for what is seen, each as JSON text, in the order of the tools. */
export type EntriesOf = (seen: Seen) => string[];

interface Prepared {
  readonly entry: string;
  readonly fullEntry: string;
  /** The other names that its entry holds. */
  readonly names: readonly string[];
  /** Its entry for those who lack some of them. */
  template(outputSchemas: boolean, isPinned: boolean): Template;
}

/** An entry as JSON text, but for the descriptions that name others: one between each two pieces. */
interface Template {
  readonly pieces: readonly string[];
  readonly slots: readonly Slot[];
}

/** A description that names others. */
interface Slot {
  readonly text: string;
  readonly names: readonly string[];
  readonly namesIn: NamesIn;
  /** It describes an id, so it says which toolset returns such ids if nothing here does. */
  readonly isId: boolean;
  /** The description if nothing of it is left; "" for none. */
  readonly otherwise: string;
  /** The member of the entry by which of the names are there, with its comma. */
  readonly kept: Map<string, string>;
}

/**
 * Prepares the entries of one server's tools. An entry that names nothing that
 * is missing is the same text for everybody. Of others only the descriptions
 * are written for the view, so that a view that nobody saw before costs little.
 */
export function prepareEntries(all: readonly Tool[]): EntriesOf {
  const namesIn = namesFinder([...all.map(({ name }) => name), TENANT_ARGUMENT]);
  const toolsets = new Map(all.map(({ name, toolset }) => [name, toolset]));
  const prepared = new Map<Tool, Prepared>();
  const preparedOf = (tool: Tool): Prepared => {
    const made = prepared.get(tool) ?? prepare(tool, namesIn);
    prepared.set(tool, made);
    return made;
  };
  // A start does not wait for what nobody has asked for yet, and the first who asks does not wait for all of it.
  setTimeout(() => void each(all, preparedOf), PREPARE_AFTER_MS).unref();

  return (seen) => {
    const there = new Set(seen.tools.map(({ name }) => name));
    if (!seen.isPinned) there.add(TENANT_ARGUMENT);
    const leftOut = new Set(seen.leftOut.map(({ name }) => name));
    const stateOf = (name: string): string => (there.has(name) ? "+" : leftOut.has(name) ? "-" : "0");
    return seen.tools.map((tool) => {
      const { entry, fullEntry, names, template } = preparedOf(tool);
      const isWhole = names.every((name) => there.has(name)) && !(seen.isPinned && takesTenant(tool));
      if (isWhole) return seen.outputSchemas ? fullEntry : entry;
      const { pieces, slots } = template(seen.outputSchemas, seen.isPinned);
      let text = pieces[0] as string;
      slots.forEach((slot, at) => {
        text += memberOf(slot, slot.names.map(stateOf).join(""), toolsets) + pieces[at + 1];
      });
      return text;
    });
  };
}

/** Does something for one after the other; others have the event loop between two. */
async function each<T>(all: readonly T[], work: (one: T) => unknown): Promise<void> {
  for (const one of all) {
    work(one);
    await nextTurn();
  }
}

function prepare(tool: Tool, namesIn: NamesIn): Prepared {
  const { outputSchema: _, ...listing } = tool.listing;
  const fullEntry = JSON.stringify(tool.listing);
  const templates = new Map<string, Template>();
  return {
    entry: JSON.stringify(listing),
    fullEntry,
    names: namesIn(fullEntry).filter((name) => name !== tool.name),
    template(outputSchemas, isPinned) {
      const key = `${outputSchemas} ${isPinned}`;
      const made = templates.get(key) ?? templateOf(tool, outputSchemas, isPinned, namesIn);
      templates.set(key, made);
      return made;
    },
  };
}

/** A mark in place of a description: no text of ours holds the character. */
const MARK = /,"description":"\\u0001\d+\\u0001"/;
const markOf = (at: number): string => `\u0001${at}\u0001`;

function templateOf({ listing }: Tool, outputSchemas: boolean, isPinned: boolean, namesIn: NamesIn): Template {
  const slots: Slot[] = [];
  const said: Said = (text, isId, otherwise = "") => {
    const names = namesIn(text);
    if (names.length === 0) return text;
    slots.push({ text, names, namesIn: namesFinder(names), isId, otherwise, kept: new Map() });
    return markOf(slots.length - 1);
  };
  const { outputSchema, inputSchema, description, ...rest } = listing;
  const text = JSON.stringify({
    ...rest,
    // Nobody lists a tool without a word about it.
    description: said(description, false, `${listing.title}.`),
    inputSchema: schemaFor(isPinned ? withoutTenant(inputSchema) : inputSchema, said),
    ...(outputSchemas && outputSchema !== undefined && { outputSchema: schemaFor(outputSchema, said) }),
  });
  return { pieces: text.split(MARK), slots };
}

/** A description, or the mark where it will stand. */
type Said = (text: string, isId: boolean, otherwise?: string) => string;

function withoutTenant({ properties = {}, required, ...schema }: JsonSchema): JsonSchema {
  const { [TENANT_ARGUMENT]: _, ...others } = properties;
  const needed = required?.filter((name) => name !== TENANT_ARGUMENT) ?? [];
  return { ...schema, properties: others, ...(needed.length > 0 && { required: needed }) };
}

/** A schema whose descriptions come last in each object, behind a comma. */
function schemaFor(schema: JsonSchema, said: Said, name = ""): JsonSchema {
  const { description, properties, items, additionalProperties, ...rest } = schema;
  return {
    ...rest,
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([own, inner]) => [own, schemaFor(inner, said, own)]),
      ),
    }),
    ...(items !== undefined && { items: schemaFor(items, said) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === "object" ? schemaFor(additionalProperties, said) : additionalProperties,
    }),
    ...(description !== undefined && { description: said(description, /(^|_)ids?$/.test(name)) }),
  };
}

/** A description as a member of its object, for one state of each of its names; "" if nothing is left. */
function memberOf(slot: Slot, states: string, toolsets: ReadonlyMap<string, string>): string {
  const known = slot.kept.get(states);
  if (known !== undefined) return known;
  const { text, names, namesIn, isId, otherwise, kept } = slot;
  const are = (state: string): string[] => names.filter((_, at) => states[at] === state);
  const isThere = new Set(are("+"));
  const left = withoutNames(text, (part) => namesIn(part).filter((name) => !isThere.has(name)));
  const sources = isId && isThere.size === 0 ? [...new Set(are("-").map((name) => toolsets.get(name)))] : [];
  const source =
    sources.length === 0 ? "" : `Tools that this URL leaves out return such ids: toolset ${sources.join(" or ")}.`;
  const said = [left, source].filter((part) => part !== "").join(" ") || otherwise;
  const member = said === "" ? "" : `,"description":${JSON.stringify(said)}`;
  if (kept.size < MAX_KEPT) kept.set(states, member);
  return member;
}
