import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { JsonSchema } from "../../../services/shared/tools/schema.js";
import type { Tool } from "../../../services/shared/tools/tools.js";
import { post } from "../../support/mcp.js";
import { createMakeArguments, type MakeArguments } from "../../system/wrong-ids/made-arguments.js";
import { type Person, personOf } from "../frame/product.js";

// A person who knows what tools/list says about the tools, and nothing else.

/** A tool, as tools/list shows it. */
export interface Shown {
  readonly name: string;
  readonly inputSchema: JsonSchema;
  readonly outputSchema?: JsonSchema;
  readonly annotations: { readonly readOnlyHint?: boolean };
}

/** A row of a list. */
export type Row = JsonObject & { readonly id?: string };

/** A person at a server, and the tools listed there. */
export interface Caller {
  readonly person: Person;
  readonly tools: readonly Shown[];
  /** Arguments that a tool takes: what it requires, with ids that exist. */
  readonly make: MakeArguments;
  /** The same arguments about each other object that the tool can be asked about. */
  others(shown: Shown, args: JsonObject): Promise<JsonObject[]>;
  /** The tool as the maker of arguments wants it. */
  asTool(shown: Shown): Tool;
  tool(name: string): Shown | undefined;
}

/** @param server its name, such as grc. */
export async function newCaller(
  baseUrl: string,
  server: string,
  name: string,
  email: string,
  key: string,
): Promise<Caller> {
  const url = `${baseUrl}/mcp/${server}`;
  const known = personOf(url, name, email, key);
  // A call that is never answered is found like a refusal, and the others are asked.
  const person: Person = {
    ...known,
    ask: (tool, args) =>
      known.ask(tool, args).catch((error) => ({ result: undefined, text: "", refusal: `timed out: ${error}` })),
  };
  const { body } = await post(`${url}?output_schemas=1`, key, "tools/list");
  const tools = (body.result?.tools ?? []) as unknown as Shown[];
  const asTool = (shown: Shown): Tool => ({ server, name: shown.name, listing: shown }) as unknown as Tool;
  const ids = new Map<string, Promise<readonly string[]>>();
  const tenant = await tenantOf(person, server);
  const make = createMakeArguments({
    tools: tools.map(asTool),
    tenants: tenant === undefined ? {} : { [server]: tenant },
    async realId(_server, sources) {
      for (const source of sources) {
        const [id] = await idsOf(source);
        if (id !== undefined) return id;
      }
      return undefined;
    },
  });
  function idsOf(source: string): Promise<readonly string[]> {
    const found = ids.get(source);
    if (found !== undefined) return found;
    // One that needs its own ids finds none, instead of asking itself.
    ids.set(source, Promise.resolve([]));
    const shown = tools.find((one) => one.name === source);
    if (shown?.annotations.readOnlyHint !== true) return Promise.resolve([]);
    const asked = make(asTool(shown)).then(async (args) => {
      const more = "query" in (shown.inputSchema.properties ?? {}) ? { query: "*" } : {};
      const { result } = await person.ask(source, { ...args, ...more });
      const rows = (result?.[rowsIn(shown) ?? ""] ?? [result]) as readonly unknown[];
      return rows.map(firstIdIn).filter((id) => id !== undefined);
    });
    ids.set(source, asked);
    return asked;
  }
  async function others(shown: Shown, args: JsonObject): Promise<JsonObject[]> {
    const name = Object.keys(args).find((one) => /_id$/.test(one) && one !== "tenant_id");
    const { description = "" } = shown.inputSchema.properties?.[name ?? ""] ?? {};
    const sources = tools.filter((one) => new RegExp(`\\b${one.name}\\b`).test(description));
    const known = await Promise.all(sources.map((one) => idsOf(one.name)));
    return name === undefined ? [] : known.flat().map((id) => ({ ...args, [name]: id }));
  }
  return { person, tools, make, others, asTool, tool: (wanted) => tools.find((one) => one.name === wanted) };
}

async function tenantOf(person: Person, server: string): Promise<string | undefined> {
  if (server === "cti") return undefined;
  const { result } = await person.ask(server === "grc" ? "list_tenants" : "whoami");
  return (result?.tenants as { id: string }[] | undefined)?.[0]?.id;
}

/** The first id in a result, but for that of its tenant. */
export function firstIdIn(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if ("id" in value && typeof value.id === "string") return value.id;
  for (const [name, inner] of Object.entries(value)) {
    const id = name === "tenant" ? undefined : firstIdIn(inner);
    if (id !== undefined) return id;
  }
  return undefined;
}

/** The member of a list's result that holds its rows. */
export function rowsIn(shown: Shown): string | undefined {
  if (!("page_token" in (shown.inputSchema.properties ?? {}))) return undefined;
  const members = Object.entries(shown.outputSchema?.properties ?? {});
  return members.find(([, { type, items }]) => type === "array" && items?.type === "object")?.[0];
}

/** What a walk through all pages of a list gave. */
export interface Walked {
  readonly rows: readonly Row[];
  readonly totals: readonly number[];
  readonly refusal: string;
}

/** The most pages that are read. */
const MOST_PAGES = 60;

/** Reads all pages of a list. */
export async function walk(person: Person, shown: Shown, args: JsonObject, pageSize = 100): Promise<Walked> {
  const member = rowsIn(shown)!;
  const rows: Row[] = [];
  const totals: number[] = [];
  let token: JsonValue | undefined;
  for (let page = 0; page < MOST_PAGES; page++) {
    const more = token === undefined ? {} : { page_token: token };
    const { result, refusal } = await person.ask(shown.name, { ...args, page_size: pageSize, ...more });
    if (result === undefined) return { rows, totals, refusal };
    rows.push(...((result[member] as Row[] | undefined) ?? []));
    if (typeof result.total_size === "number" && result.total_size_is_lower_bound !== true)
      totals.push(result.total_size);
    token = result.next_page_token as string | undefined;
    if (token === undefined || token === "") break;
  }
  return { rows, totals, refusal: "" };
}
