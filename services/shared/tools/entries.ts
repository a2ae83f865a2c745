import { LRUCache } from "lru-cache";
import { takesTenant } from "./narrowing.js";
import type { JsonSchema } from "./schema.js";
import { TENANT_ARGUMENT } from "./tenant.js";
import type { Tool } from "./tools.js";
import { type NamesIn, namesFinder, withoutNames } from "./without-names.js";

/** Entries that are kept of each server because somebody lacks what they name; one takes about 2 KB. */
const MAX_KEPT = 1_000;

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
}

/**
 * Prepares the entries of one server's tools. An entry that names nothing that
 * is missing is the same text for everybody; others are written for the view.
 */
export function prepareEntries(all: readonly Tool[]): EntriesOf {
  const namesIn = namesFinder([...all.map(({ name }) => name), TENANT_ARGUMENT]);
  const prepared = new Map<Tool, Prepared>();
  const written = new LRUCache<string, string>({ max: MAX_KEPT });
  for (const tool of all) {
    const { outputSchema: _, ...listing } = tool.listing;
    const fullEntry = JSON.stringify(tool.listing);
    const names = namesIn(fullEntry).filter((name) => name !== tool.name);
    prepared.set(tool, { entry: JSON.stringify(listing), fullEntry, names });
  }

  return (seen) => {
    const there = new Set(seen.tools.map(({ name }) => name));
    if (!seen.isPinned) there.add(TENANT_ARGUMENT);
    const missing: NamesIn = (text) => namesIn(text).filter((name) => !there.has(name));
    const toolsetOf = new Map(seen.leftOut.map(({ name, toolset }) => [name, toolset]));
    const toolsetsIn = (text: string): string[] => [
      ...new Set(namesIn(text).flatMap((name) => toolsetOf.get(name) ?? [])),
    ];
    return seen.tools.map((tool) => {
      const { entry, fullEntry, names } = prepared.get(tool) as Prepared;
      const lacks = names.filter((name) => !there.has(name));
      if (lacks.length === 0 && !(seen.isPinned && takesTenant(tool))) return seen.outputSchemas ? fullEntry : entry;
      const key = [
        tool.name,
        seen.outputSchemas,
        seen.isPinned,
        ...lacks.map((one) => [one, toolsetOf.has(one)]),
      ].join();
      const kept = written.get(key) ?? JSON.stringify(listingFor(tool, seen, { missing, namesIn, toolsetsIn }));
      written.set(key, kept);
      return kept;
    });
  };
}

interface Words {
  readonly missing: NamesIn;
  readonly namesIn: NamesIn;
  /** The toolsets that the URL leaves out of the tools that a text names. */
  toolsetsIn(text: string): string[];
}

function listingFor({ listing }: Tool, seen: Seen, words: Words): object {
  const { outputSchema, inputSchema, description, ...rest } = listing;
  const said = withoutNames(description, words.missing);
  return {
    ...rest,
    // Nobody lists a tool without a word about it.
    description: said === "" ? `${listing.title}.` : said,
    inputSchema: schemaFor(seen.isPinned ? withoutTenant(inputSchema) : inputSchema, words),
    ...(seen.outputSchemas && outputSchema !== undefined && { outputSchema: schemaFor(outputSchema, words) }),
  };
}

function withoutTenant({ properties = {}, required, ...schema }: JsonSchema): JsonSchema {
  const { [TENANT_ARGUMENT]: _, ...others } = properties;
  const needed = required?.filter((name) => name !== TENANT_ARGUMENT) ?? [];
  return { ...schema, properties: others, ...(needed.length > 0 && { required: needed }) };
}

/** A schema with the descriptions of this view; an id that nothing here returns says which toolset does. */
function schemaFor(schema: JsonSchema, words: Words, name = ""): JsonSchema {
  const { description, properties, items, additionalProperties, ...rest } = schema;
  const said = [
    withoutNames(description ?? "", words.missing),
    description !== undefined && /(^|_)ids?$/.test(name) ? sourceOf(description, words) : "",
  ].filter((text) => text !== "");
  return {
    ...rest,
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(properties).map(([own, inner]) => [own, schemaFor(inner, words, own)]),
      ),
    }),
    ...(items !== undefined && { items: schemaFor(items, words) }),
    ...(additionalProperties !== undefined && {
      additionalProperties:
        typeof additionalProperties === "object" ? schemaFor(additionalProperties, words) : additionalProperties,
    }),
    ...(said.length > 0 && { description: said.join(" ") }),
  };
}

function sourceOf(description: string, { missing, namesIn, toolsetsIn }: Words): string {
  const isGivenHere = namesIn(description).length > missing(description).length;
  const toolsets = isGivenHere ? [] : toolsetsIn(description);
  if (toolsets.length === 0) return "";
  return `Tools that this URL leaves out return such ids: toolset ${toolsets.join(" or ")}.`;
}
