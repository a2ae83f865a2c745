import { LRUCache } from "lru-cache";
import type { HttpRefusal } from "../admission/refusals.js";

/** What the query of an endpoint's URL asks for: how it narrows or widens the list of tools. */
export interface ListOptions {
  /** ?output_schemas=1: entries with their output schemas. */
  readonly outputSchemas: boolean;
  /** ?readonly=1: tools without side effects only. */
  readonly readOnly: boolean;
  /** ?toolsets=a,b: tools of these toolsets only; undefined for all. */
  readonly toolsets: ReadonlySet<string> | undefined;
  /** One text for all queries that mean the same list. */
  readonly key: string;
}

/**
 * Reads the query of an endpoint's URL, without its question mark. A parameter
 * that is not known, is given twice or has a value that is not in its list is
 * refused: a URL that means to narrow never opens more than it says. Hot path.
 */
export type ReadQuery = (query: string) => ListOptions | HttpRefusal;

/** Longest query that is read, in characters: more than all toolsets of a server take. */
const MAX_QUERY = 4_000;
/** Queries that are kept with what they ask for, of each server. Only good ones are kept. */
const MAX_KEPT = 256;
/** A name of this form is repeated to the client that sent it; anything else could be a secret. */
const SHOWN = /^[\w.-]{1,40}$/;
const ON: ReadonlySet<string> = new Set(["1", "true"]);

/** Without a query. */
export const EVERYTHING: ListOptions = optionsOf(new Map(), undefined);

/** Builds the reader of one server's queries. @param toolsets all that the server has. */
export function createReadQuery(toolsets: readonly string[]): ReadQuery {
  const known = new Set(toolsets);
  const kept = new LRUCache<string, ListOptions>({ max: MAX_KEPT });

  function read(query: string): ListOptions | HttpRefusal {
    if (query.length > MAX_QUERY) return invalid(`The query is longer than ${MAX_QUERY} characters.`);
    const given = new Map<string, string>();
    for (const [name, value] of new URLSearchParams(query)) {
      if (!isParameter(name)) return unknownParameter(name);
      if (given.has(name)) return invalid(`${name} is given more than once.`);
      if (name !== "toolsets" && !ON.has(value))
        return invalid(`${name} takes 1 or true; leave it out to turn it off.`);
      given.set(name, value);
    }
    const asked = given.get("toolsets");
    if (asked === undefined) return optionsOf(given, undefined);
    const names = asked.split(",").map((name) => name.trim());
    const stranger = names.find((name) => !known.has(name));
    return stranger === undefined ? optionsOf(given, new Set(names)) : unknownToolset(stranger, toolsets);
  }

  return (query) => {
    if (query === "") return EVERYTHING;
    const before = kept.get(query);
    if (before !== undefined) return before;
    const options = read(query);
    if (!("status" in options)) kept.set(query, options);
    return options;
  };
}

/** What a query may ask for. */
export const PARAMETERS = ["readonly", "output_schemas", "toolsets"] as const;
type Parameter = (typeof PARAMETERS)[number];
const KNOWN = "Known are readonly=1, output_schemas=1 and toolsets=NAME,NAME.";
const THEN = "Nothing was listed or called: correct the URL of this connection in the settings of your client.";

function isParameter(name: string): name is Parameter {
  return (PARAMETERS as readonly string[]).includes(name);
}

function optionsOf(given: ReadonlyMap<string, string>, toolsets: ReadonlySet<string> | undefined): ListOptions {
  const outputSchemas = given.has("output_schemas");
  const readOnly = given.has("readonly");
  const key = JSON.stringify([outputSchemas, readOnly, toolsets && [...toolsets].sort()]);
  return { outputSchemas, readOnly, toolsets, key };
}

function unknownParameter(name: string): HttpRefusal {
  const what = SHOWN.test(name) ? `the parameter ${name}` : "a parameter";
  const message = `The URL has ${what} that this endpoint does not know. ${KNOWN} ${THEN}`;
  return { status: 400, word: "unknown_parameter", message };
}

function unknownToolset(name: string, toolsets: readonly string[]): HttpRefusal {
  const what =
    name === ""
      ? "toolsets has an empty name."
      : `${SHOWN.test(name) ? name : "A name in toolsets"} is no toolset here.`;
  const here = toolsets.length === 0 ? "This server has none." : `Toolsets of this server are ${toolsets.join(", ")}.`;
  return invalid(`${what} ${here}`);
}

function invalid(what: string): HttpRefusal {
  return { status: 400, word: "invalid_parameter", message: `The query of the URL is not valid. ${what} ${THEN}` };
}
