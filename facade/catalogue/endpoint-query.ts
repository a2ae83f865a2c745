import { LRUCache } from "lru-cache";
import { type Narrowing, TENANT_FORM, takesTenant, toolsetsOf, WHOLE } from "../../services/shared/tools/narrowing.js";
import type { Tool } from "../../services/shared/tools/tools.js";
import type { HttpRefusal } from "../admission/refusals.js";

/** What the query of an endpoint's URL asks for: how it narrows or widens the list of tools. */
export interface ListOptions extends Narrowing {
  /** ?output_schemas=1: entries with their output schemas. */
  readonly outputSchemas: boolean;
  /** One text for all queries that mean the same list. */
  readonly key: string;
}

/**
 * Reads the query of an endpoint's URL, without its question mark. A parameter
 * that is not known, is given twice or has a value that is not in its list is
 * refused: a URL that means to narrow never opens more than it says. Hot path.
 */
export type ReadQuery = (query: string) => ListOptions | HttpRefusal;

/** Longest query that is read, in characters: more than all toolsets and tools of a server take. */
const MAX_QUERY = 4_000;
/** Queries that are kept with what they ask for, of each server. Only good ones are kept. */
const MAX_KEPT = 256;
/** A name of this form is repeated to the client that sent it; anything else could be a secret. */
const SHOWN = /^[\w.-]{1,40}$/;
const ON: ReadonlySet<string> = new Set(["1", "true"]);

/** Without a query. */
export const EVERYTHING: ListOptions = keyed({ ...WHOLE, outputSchemas: false });

/** Builds the reader of one server's queries. @param tools all that the server has. */
export function createReadQuery(tools: readonly Tool[]): ReadQuery {
  const toolsets = toolsetsOf(tools);
  const names = tools.map(({ name }) => name);
  const parameters = PARAMETERS.filter((name) => name !== "tenant" || tools.some(takesTenant));
  const kept = new LRUCache<string, ListOptions>({ max: MAX_KEPT });

  /** @throws Invalid */
  function namesIn(text: string | undefined, parameter: Parameter, known: readonly string[], said: string) {
    const given = text?.split(",").map((name) => name.trim());
    const stranger = given?.find((name) => !known.includes(name));
    if (stranger === undefined) return given === undefined ? undefined : new Set(given);
    if (stranger === "") throw new Invalid(`${parameter} has an empty name. ${said}`);
    const shown = SHOWN.test(stranger) ? stranger : `A name in ${parameter}`;
    throw new Invalid(`${shown} is not a toolset ${parameter === "exclude" ? "or tool " : ""}of this server. ${said}`);
  }

  function read(query: string): ListOptions | HttpRefusal {
    if (query.length > MAX_QUERY) throw new Invalid(`The query is longer than ${MAX_QUERY} characters.`);
    const given = new Map<string, string>();
    for (const [name, value] of new URLSearchParams(query)) {
      const parameter = parameters.find((one) => one === name);
      if (parameter === undefined) return unknownParameter(name, parameters);
      if (given.has(name)) throw new Invalid(`${name} is given more than once.`);
      if (SWITCHES.has(name) && !ON.has(value))
        throw new Invalid(`${name} takes 1 or true; leave it out to turn it off.`);
      given.set(name, value);
    }
    const tenant = given.get("tenant");
    if (tenant !== undefined && !TENANT_FORM.test(tenant))
      throw new Invalid("tenant takes the id of one tenant, a UUID.");
    const here =
      toolsets.length === 0 ? "This server has no toolsets." : `Toolsets of this server are ${toolsets.join(", ")}.`;
    return keyed({
      readOnly: given.has("readonly"),
      outputSchemas: given.has("output_schemas"),
      toolsets: namesIn(given.get("toolsets"), "toolsets", toolsets, here),
      excluded:
        namesIn(
          given.get("exclude"),
          "exclude",
          [...toolsets, ...names],
          `${here} Its tools are ${names.join(", ")}.`,
        ) ?? WHOLE.excluded,
      tenant: tenant?.toLowerCase(),
    });
  }

  return (query) => {
    if (query === "") return EVERYTHING;
    const before = kept.get(query);
    if (before !== undefined) return before;
    try {
      const options = read(query);
      if (!("status" in options)) kept.set(query, options);
      return options;
    } catch (error) {
      if (error instanceof Invalid) return invalid(error.message);
      throw error;
    }
  };
}

/** What a query may ask for; tenant only on servers whose tools take one. */
export const PARAMETERS = ["readonly", "output_schemas", "toolsets", "exclude", "tenant"] as const;
type Parameter = (typeof PARAMETERS)[number];
const SWITCHES: ReadonlySet<string> = new Set<Parameter>(["readonly", "output_schemas"]);
const WRITTEN: Readonly<Record<Parameter, string>> = {
  readonly: "readonly=1",
  output_schemas: "output_schemas=1",
  toolsets: "toolsets=NAME,NAME",
  exclude: "exclude=NAME,NAME",
  tenant: "tenant=ID",
};
const THEN = "Nothing was listed or called: correct the URL of this connection in the settings of your client.";

/** A value that its parameter does not take; the message says which and what it takes. */
class Invalid extends Error {}

/** The list does not depend on which tenant is pinned, so that all tenants share it. */
function keyed(options: Omit<ListOptions, "key">): ListOptions {
  const { outputSchemas, readOnly, toolsets, excluded, tenant } = options;
  const sorted = (names: ReadonlySet<string>): string[] => [...names].sort();
  const isPinned = tenant !== undefined;
  const key = JSON.stringify([outputSchemas, readOnly, toolsets && sorted(toolsets), sorted(excluded), isPinned]);
  return { ...options, key };
}

function unknownParameter(name: string, parameters: readonly Parameter[]): HttpRefusal {
  const what = SHOWN.test(name) ? `the parameter ${name}` : "a parameter in it";
  const written = parameters.map((one) => WRITTEN[one]);
  const known = `Known parameters are ${written.slice(0, -1).join(", ")} and ${written.at(-1)}.`;
  const message = `The query of the URL is not valid. This endpoint does not know ${what}. ${known} ${THEN}`;
  return { status: 400, word: "unknown_parameter", message };
}

function invalid(what: string): HttpRefusal {
  return { status: 400, word: "invalid_parameter", message: `The query of the URL is not valid. ${what} ${THEN}` };
}
