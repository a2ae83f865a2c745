import { execFileSync } from "node:child_process";
import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import { type Caller, firstIdIn, type Row, rowsIn, type Shown, walk } from "../from-tools-list/caller.js";
import { FAULTS } from "../from-tools-list/edges.js";

// Classes of faults, each looked for in every tool in which it can occur, as tools/list shows them.

const UNKNOWN = "00000000-0000-4000-8000-00000000abcd";

/** Tables whose rows change by themselves, while simulations run and people come: their rows are counted. */
const LIVELY =
  /^(agents|asset_agent_jobs|collectors?|connector_.*|evaluations|execution_traces|executors|exercises|indexing_status|injectors|injects|injects_.*|parameters|pauses|tokens|user_events|users)$/;

/** What a platform's database holds, table by table. */
export function kept(database: string): ReadonlyMap<string, string> {
  const run = (sql: string): string[] =>
    execFileSync("psql", ["-qtA", database, "-c", sql]).toString().trim().split("\n");
  const tables = run("select relname from pg_stat_user_tables order by relname");
  const sums = tables.map((table) => {
    const content = LIVELY.test(table) ? "0" : "coalesce(sum(hashtextextended(t::text, 0)), 0)";
    return `select '${table}', count(*), ${content} from "${table}" t`;
  });
  return new Map(run(sums.join(" union all ")).map((line) => [line.split("|")[0]!, line]));
}

/** The tables that differ. */
export const changed = (before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): string[] =>
  [...after].filter(([table, line]) => before.get(table) !== line).map(([table]) => table);

const propertiesOf = (shown: Shown) => Object.entries(shown.inputSchema.properties ?? {});

/** Whether an argument names objects. */
const names = (argument: string): boolean => /^(labels|.*_ids?)$/.test(argument) && argument !== "tenant_id";

/** Calls of a tool with one reference each that names nothing. */
export async function wrongReferences(caller: Caller, shown: Shown): Promise<JsonObject[]> {
  const base = await caller.make(caller.asTool(shown));
  return propertiesOf(shown).flatMap(([argument, { type }]) => {
    if (!names(argument)) return [];
    const nothing = argument === "labels" ? "no-such-label" : UNKNOWN;
    return [{ ...base, [argument]: type === "array" ? [nothing] : nothing }];
  });
}

/** Calls of a tool with one text each that no database takes, the last one of several if there can be several. */
export async function wrongTexts(caller: Caller, shown: Shown): Promise<JsonObject[]> {
  const base = await caller.make(caller.asTool(shown));
  const bad = "a\u0000b";
  return propertiesOf(shown).flatMap(([argument, { type, format, enum: words, items }]) => {
    if (names(argument) || /_id$/.test(argument)) return [];
    if (type === "string" && format === undefined && words === undefined) return [{ ...base, [argument]: bad }];
    const texts = Object.entries(items?.properties ?? {}).filter(
      ([, inner]) => inner.type === "string" && !inner.format,
    );
    if (type !== "array" || texts.length === 0) return [];
    const item = (text: string) =>
      Object.fromEntries(
        texts.map(([name, { enum: choices }]) => [name, (choices as string[] | undefined)?.[0] ?? text]),
      );
    return [{ ...base, [argument]: [item("good"), item(bad)] }];
  });
}

/** Whether a refusal has words of the platform, or of a fault of ours. */
export const isFault = (refusal: string): boolean => FAULTS.test(refusal);

/** Members of rows by the words with which a list says where it searches. */
const COLUMNS: readonly (readonly [word: RegExp, member: string])[] = [
  [/\bname\b/, "name"],
  [/\btitle\b/, "title"],
  [/\bvalue\b/, "value"],
  [/\bdescription\b/, "description"],
  [/\bidentifier\b/, "external_id"],
  [/\be-mail address\b/, "email"],
  [/\bauthor\b/, "author"],
  [/\bcontent\b/, "content"],
  [/\bcategory\b/, "category"],
  [/\bkill chain\b/, "kill_chain"],
];

/** The members that a list says it searches. */
export const promised = (shown: Shown): string[] => {
  const { description = "" } = shown.inputSchema.properties?.query ?? {};
  return COLUMNS.filter(([word]) => word.test(description)).map(([, member]) => member);
};

/** The tool that reads one object of a list, and the argument that names it. */
export function readerOf(
  caller: Caller,
  list: string,
): { readonly tool: Shown; readonly argument: string } | undefined {
  for (const tool of caller.tools) {
    if (!/^get_/.test(tool.name)) continue;
    const found = propertiesOf(tool).filter(
      ([argument, { description = "" }]) =>
        /_id$/.test(argument) && argument !== "tenant_id" && new RegExp(`\\b${list}\\b`).test(description),
    );
    const [own] = found.filter(([argument]) => tool.name === `get_${argument.replace(/_id$/, "")}`);
    if (own !== undefined) return { tool, argument: own[0] };
  }
  return undefined;
}

/** The arguments with which a list has rows. */
export async function rowsOf(
  caller: Caller,
  shown: Shown,
): Promise<{ readonly base: JsonObject; readonly rows: readonly Row[] }> {
  const made = await caller.make(caller.asTool(shown));
  let best = { base: made, rows: (await walk(caller.person, shown, made)).rows };
  for (const base of (await caller.others(shown, made)).slice(0, 10)) {
    const { rows } = await walk(caller.person, shown, base);
    if (rows.length > best.rows.length) best = { base, rows };
  }
  return best;
}

/** One object whole, as the tool that reads it shows it. */
export async function whole(caller: Caller, list: Shown, base: JsonObject, { id }: Row): Promise<Row | undefined> {
  const reader = readerOf(caller, list.name);
  if (reader === undefined || id === undefined) return undefined;
  const known = Object.keys(reader.tool.inputSchema.properties ?? {});
  const scope = Object.fromEntries(Object.entries(base).filter(([name]) => known.includes(name)));
  const { result } = await caller.person.ask(reader.tool.name, { ...scope, [reader.argument]: id });
  if (result?.id === id) return result as Row;
  return Object.values(result ?? {}).find((value) => firstIdIn(value) === id && (value as Row).id === id) as
    | Row
    | undefined;
}

const text = (value: JsonValue | undefined): string => (typeof value === "string" ? value : "");

/** Where a list searches: what it says, by asking for words of each column of each row. */
export async function searches(
  caller: Caller,
  shown: Shown,
): Promise<{ readonly asked: number; readonly wrong: string[] }> {
  const columns = promised(shown);
  const wrong: string[] = [];
  if (columns.length === 0) return { asked: 0, wrong: [`${shown.name} says nothing of where it searches`] };
  const { base, rows } = await rowsOf(caller, shown);
  const texts = new Map<string, string>();
  const parts = new Map<string, string[]>();
  for (const row of rows.slice(0, 120)) {
    const isCut = columns.some((column) => row[column] === undefined || text(row[column]).endsWith("…"));
    const one = { ...row, ...(isCut ? await whole(caller, shown, base, row) : {}) };
    const own = columns.map((column) => text(one[column]));
    texts.set(String(row.id), own.join("\n").toLowerCase());
    parts.set(String(row.id), own);
  }
  let asked = 0;
  for (const [at, column] of columns.entries()) {
    const having = [...parts].filter(([, own]) => own[at] !== "");
    for (const [id, own] of having.filter((_, i) => i % Math.ceil(having.length / 3) === 0)) {
      const [word = ""] = own[at]!.replaceAll(/<[^>]*>/g, " ")
        .split(/[^\p{L}\p{N}.@-]+/u)
        .toSorted((a, b) => b.length - a.length);
      for (const query of new Set([word.toUpperCase(), word.slice(1, -1)])) {
        if (query.length < 3) continue;
        asked++;
        const found = await walk(caller.person, shown, { ...base, query });
        const ids = new Set(found.rows.map((row) => String(row.id)));
        const call = `${shown.name} ${JSON.stringify({ query })} (${column})`;
        if (found.refusal !== "") wrong.push(`${call}: ${found.refusal}`);
        else if (!ids.has(id)) wrong.push(`${call}: does not find ${id}`);
        const lost = [...texts].find(([other, all]) => all.includes(query.toLowerCase()) && !ids.has(other));
        if (lost !== undefined) wrong.push(`${call}: does not find ${lost[0]}`);
        const more = [...ids].find((other) => texts.get(other)?.includes(query.toLowerCase()) === false);
        if (more !== undefined) wrong.push(`${call}: finds ${more}, in which it does not stand`);
      }
    }
  }
  return { asked, wrong };
}

/** Members that the schema of rows says lists leave out, itself or by "and the fields below". */
function leftOut(shown: Shown): ReadonlySet<string> {
  const { properties = {} } = shown.outputSchema?.properties?.[rowsIn(shown) ?? ""]?.items ?? {};
  const out = new Set<string>();
  let isBelow = false;
  for (const [member, { description = "" }] of Object.entries(properties)) {
    if (
      isBelow ||
      /absent.* in lists|omit|only .*returns?|returns? (them|it|all)|only in|in lists only/i.test(description)
    )
      out.add(member);
    if (/fields below/.test(description)) isBelow = true;
  }
  return out;
}

/** What rows of a list say otherwise than the tool that reads one object, or leave out without saying so. */
export async function rowsAgainstReads(
  caller: Caller,
  shown: Shown,
): Promise<{ readonly asked: number; readonly wrong: string[] }> {
  const { base, rows } = await rowsOf(caller, shown);
  const out = leftOut(shown);
  const members = Object.keys(shown.outputSchema?.properties?.[rowsIn(shown) ?? ""]?.items?.properties ?? {});
  const wrong: string[] = [];
  let asked = 0;
  for (const row of rows.filter((_, i) => i % Math.ceil(rows.length / 12) === 0)) {
    const one = await whole(caller, shown, base, row);
    if (one === undefined) continue;
    asked++;
    for (const member of members) {
      if (out.has(member)) continue;
      const [told, read] = [row[member], one[member]];
      const isCut = typeof told === "string" && /…$/.test(told);
      const isNamed = told !== undefined && nameOrId(told, read);
      // What was never changed has no time of a change.
      const isUnchanged = member === "updated_at" && read === undefined && one.created_at === told;
      if (isCut || isNamed || isUnchanged || JSON.stringify(told) === JSON.stringify(read)) continue;
      if (read === undefined && !(member in one) && told !== undefined && !declares(caller, shown, member)) continue;
      wrong.push(
        `${shown.name} ${row.id}: ${member} is ${JSON.stringify(told)}, and ${JSON.stringify(read)} when read`,
      );
    }
  }
  return { asked, wrong: [...new Set(wrong.map((line) => line.slice(0, 220)))] };
}

/** Whether both name the same: a row has a word or an id for what a read has whole, and labels are in no order. */
function nameOrId(told: JsonValue, read: JsonValue | undefined): boolean {
  const parts = (list: readonly JsonValue[]) =>
    list
      .map((one) => JSON.stringify(one))
      .toSorted()
      .join();
  if (Array.isArray(told) && Array.isArray(read)) return parts(told) === parts(read);
  if (typeof read !== "object" || read === null || Array.isArray(read)) return false;
  return read.name === told || (typeof told === "object" && told !== null && "id" in told && read.id === told.id);
}

/** Whether the tool that reads one object has a member at all. */
function declares(caller: Caller, list: Shown, member: string): boolean {
  const { properties = {} } = readerOf(caller, list.name)?.tool.outputSchema ?? {};
  return Object.values(properties).some((one) => one.properties?.[member] !== undefined);
}

/** Filters by time that take an instant otherwise if it is written in another zone. */
export async function zones(
  caller: Caller,
  shown: Shown,
): Promise<{ readonly asked: number; readonly wrong: string[] }> {
  const made = await caller.make(caller.asTool(shown));
  const filters = propertiesOf(shown).filter(([, { format }]) => format === "date-time");
  const wrong: string[] = [];
  for (const [argument] of filters) {
    const at = Date.now() - 60_000;
    const east = new Date(at + 5.5 * 3_600_000).toISOString().replace("Z", "+05:30");
    const [utc, other] = [
      await walk(caller.person, shown, { ...made, [argument]: new Date(at).toISOString() }),
      await walk(caller.person, shown, { ...made, [argument]: east }),
    ];
    const ids = ({ rows }: { readonly rows: readonly Row[] }) => rows.map(({ id }) => id).join();
    if (utc.refusal !== "" || other.refusal !== "")
      wrong.push(`${shown.name} ${argument}: ${utc.refusal}${other.refusal}`);
    else if (ids(utc) !== ids(other))
      wrong.push(`${shown.name} ${argument}: ${utc.rows.length} and ${other.rows.length}`);
  }
  return { asked: filters.length, wrong };
}

/** Numbers of rows, and the list whose length each is. */
const COUNTS: readonly (readonly [list: string, member: string, other: string, argument: string])[] = [
  ["list_teams", "players", "list_players", "team_id"],
  ["list_asset_groups", "listed_endpoints", "get_asset_group", "asset_group_id"],
  ["list_injector_contracts", "attack_pattern_count", "get_injector_contract", "injector_contract_id"],
  ["list_injects", "target_count", "get_inject", "inject_id"],
];

/** Numbers in rows that differ from how many there are. */
export async function counts(caller: Caller): Promise<{ readonly asked: number; readonly wrong: string[] }> {
  const wrong: string[] = [];
  let asked = 0;
  for (const [list, member, other, argument] of COUNTS) {
    const { base, rows } = await rowsOf(caller, caller.tool(list)!);
    const scope = "tenant_id" in base ? { tenant_id: base.tenant_id } : {};
    for (const row of rows.filter((_, i) => i % Math.ceil(rows.length / 20) === 0)) {
      const said = await caller.person.get<Record<string, never>>(other, { ...scope, [argument]: row.id });
      const inject = said.inject as { readonly [list: string]: unknown[] | undefined } | undefined;
      const aimed = ["endpoints", "asset_groups", "teams"].flatMap((one) => inject?.[one] ?? []);
      const all = {
        list_players: said.total_size,
        get_injector_contract: (said.attack_patterns as unknown[] | undefined)?.length,
      };
      const group = said.asset_group as
        | { readonly listed_endpoints?: number; readonly matching_endpoints?: number }
        | undefined;
      const is =
        other === "get_inject"
          ? aimed.length
          : other === "get_asset_group"
            ? group?.listed_endpoints
            : all[other as keyof typeof all];
      asked++;
      if (Number(row[member] ?? 0) !== Number(is ?? 0))
        wrong.push(`${list} ${row.id}: ${member} ${row[member]}, ${other}: ${is}`);
      // The members of a group are those listed and those that meet its conditions, each once.
      const total = Number(said.total_size ?? 0);
      const most = (group?.listed_endpoints ?? 0) + (group?.matching_endpoints ?? 0);
      const least = Math.max(group?.listed_endpoints ?? 0, group?.matching_endpoints ?? 0);
      if (group !== undefined && (total > most || total < least))
        wrong.push(`${list} ${row.id}: ${total} of ${least} to ${most}`);
    }
  }
  return { asked, wrong };
}
