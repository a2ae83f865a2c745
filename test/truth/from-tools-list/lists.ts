import type { JsonObject, JsonValue } from "@bufbuild/protobuf";
import type { JsonSchema } from "../../../services/shared/tools/schema.js";
import { type Caller, type Row, rowsIn, type Shown, type Walked, walk } from "./caller.js";
import type { Finding } from "./edges.js";

// Each list against a brute-force answer from all of its rows.

/** Words are taken in any case. */
const sameWord = (one: JsonValue, other: JsonValue): boolean =>
  String(one).toLowerCase() === String(other).toLowerCase();

/** What names a row: its id, else all of it. */
const keyOf = (row: Row): string => (typeof row.id === "string" ? row.id : JSON.stringify(row));
const keysOf = (rows: readonly Row[]): string[] => rows.map(keyOf);

/** Compares a list with itself, in every way that its arguments offer. */
export async function tryList(caller: Caller, shown: Shown): Promise<{ calls: number; findings: Finding[] }> {
  const { person } = caller;
  const findings: Finding[] = [];
  let calls = 0;
  const base = await fullest(caller, shown, await caller.make(caller.asTool(shown)));
  const properties = shown.inputSchema.properties ?? {};
  const read = async (more: JsonObject, size?: number): Promise<Walked> => {
    calls++;
    return walk(person, shown, { ...base, ...more }, size);
  };
  const add = (args: JsonObject, what: string): void => void findings.push({ tool: shown.name, args, what });
  const all = await read({});
  if (all.refusal !== "") {
    add(base, `refused: ${all.refusal.slice(0, 200)}`);
    return { calls, findings };
  }
  const { rows } = all;
  const keys = new Set(keysOf(rows));
  if (keys.size !== rows.length) add(base, `${rows.length - keys.size} rows twice`);
  if (all.totals.some((total) => total !== rows.length))
    add(base, `${rows.length} rows, totals ${[...new Set(all.totals)]}`);
  for (const size of rows.length > 60 ? [17] : [1, 2, 7]) {
    const paged = await read({}, size);
    if (keysOf(paged.rows).join() !== keysOf(rows).join() && paged.rows.length < 60 * size)
      add({ page_size: size }, `${paged.rows.length} rows, or others, than with 100 (${rows.length})`);
  }
  const inside = (args: JsonObject, found: Walked): boolean => {
    if (found.refusal !== "") {
      add(args, `refused: ${found.refusal.slice(0, 200)}`);
      return false;
    }
    const unknown = found.rows.filter((row) => !keys.has(keyOf(row)));
    if (unknown.length > 0 && typeof rows[0]?.id === "string")
      add(args, `${unknown.length} rows that the whole list (${rows.length}) lacks: ${brief(unknown[0]!)}`);
    if (found.totals.some((total) => total !== found.rows.length))
      add(args, `${found.rows.length} rows, totals ${[...new Set(found.totals)]}`);
    return true;
  };

  for (const [name, schema] of Object.entries(properties)) {
    if (/^(page_size|page_token|tenant_id)$/.test(name) || name in base) continue;
    if (name === "query") await tryWords(name);
    else if (/^order(_by)?$|^costliest_first$/.test(name)) await tryOrders(name, schema);
    else if (schema.type === "array" || Array.isArray(schema.enum)) await tryValues(name, schema);
    else if (schema.type === "boolean")
      for (const value of [true, false]) inside({ [name]: value }, await read({ [name]: value }, 10));
    else if (schema.format === "date-time") await tryTimes(name);
    else if (schema.format === "uuid" || /_id$/.test(name)) await tryIds(name);
    else if (schema.type === "string") await tryPlain(name);
    else if (schema.type === "integer" || schema.type === "number") await tryLeast(name);
  }
  return { calls, findings };

  async function tryWords(name: string): Promise<void> {
    for (const row of sample(rows, 4)) {
      const label = nameOf(row);
      if (label === undefined || label.length < 3) continue;
      const middle = label.slice(1, -1).trim();
      const [first = label] = label.split(/\s+/);
      for (const query of new Set([label, label.toUpperCase(), ` ${label} `, first, middle, `${first.slice(0, 3)}*`])) {
        const found = await read({ [name]: query });
        if (!inside({ [name]: query }, found)) continue;
        if (query !== middle && !keysOf(found.rows).includes(keyOf(row)))
          add({ [name]: query }, `does not find ${brief(row)}, whose name has it (${found.rows.length} rows)`);
        const words = query
          .replaceAll("*", "")
          .trim()
          .toLowerCase()
          .split(/[^\p{L}\p{N}]+/u)
          .filter((w) => w.length > 2);
        for (const other of found.rows.slice(0, 50)) {
          const text = JSON.stringify(other).toLowerCase();
          if (words.some((word) => !text.includes(word)) && !(await wholeOf(other)).includes(words[0] ?? "")) {
            add({ [name]: query }, `finds ${brief(other)}, in which it does not stand`);
            break;
          }
        }
      }
    }
    inside({ [name]: "*" }, await read({ [name]: "*" }));
    const none = await read({ [name]: "zzqxnothing" });
    if (none.rows.length > 0) add({ [name]: "zzqxnothing" }, `finds ${brief(none.rows[0]!)}`);
  }

  async function wholeOf({ id }: Row): Promise<string> {
    const single = shown.name
      .replace(/^list_/, "get_")
      .replace(/ies$/, "y")
      .replace(/s$/, "");
    const tool = caller.tool(single) ?? caller.tool("get_entity");
    if (tool === undefined || id === undefined) return "";
    const argument = Object.keys(tool.inputSchema.properties ?? {}).find(
      (one) => /_id$/.test(one) && one !== "tenant_id",
    );
    if (argument === undefined) return "";
    const tenant = "tenant_id" in base ? { tenant_id: base.tenant_id } : {};
    return (await person.ask(tool.name, { ...tenant, [argument]: id })).text.toLowerCase();
  }

  async function tryOrders(name: string, schema: JsonSchema): Promise<void> {
    for (const value of (schema.enum as JsonValue[] | undefined) ?? [true, false]) {
      const found = await read({ [name]: value });
      if (!inside({ [name]: value }, found)) continue;
      if (found.rows.length !== rows.length)
        add({ [name]: value }, `${found.rows.length} rows instead of ${rows.length}`);
    }
  }

  async function tryValues(name: string, schema: JsonSchema): Promise<void> {
    const isList = schema.type === "array";
    const words = ((isList ? schema.items?.enum : schema.enum) as JsonValue[] | undefined) ?? valuesOf(name);
    for (const value of words.slice(0, 40)) {
      const args = { [name]: isList ? [value] : value } as JsonObject;
      const found = await read(args);
      if (!inside(args, found)) continue;
      compare(args, name, found.rows, (had) => had.some((one) => sameWord(one, value)));
    }
  }

  async function tryIds(name: string): Promise<void> {
    for (const value of valuesOf(name).slice(0, 4)) {
      const args = { [name]: value } as JsonObject;
      const found = await read(args);
      if (inside(args, found)) compare(args, name, found.rows, (had) => had.includes(value));
    }
  }

  async function tryPlain(name: string): Promise<void> {
    for (const value of valuesOf(name).slice(0, 4)) {
      const args = { [name]: value } as JsonObject;
      const found = await read(args);
      if (inside(args, found)) compare(args, name, found.rows, (had) => had.includes(value));
    }
  }

  async function tryLeast(name: string): Promise<void> {
    const isLeast = name.startsWith("min_");
    const member = name.replace(/^min_/, "");
    for (const value of valuesOf(member).slice(0, 3)) {
      const args = { [name]: value } as JsonObject;
      const found = await read(args);
      if (inside(args, found))
        compare(args, member, found.rows, (had) =>
          had.some((one) => (isLeast ? Number(one) >= Number(value) : one === value)),
        );
    }
  }

  async function tryTimes(name: string): Promise<void> {
    const isAfter = /after|since/.test(name);
    const member = `${name.replace(/_(after|before)$/, "")}_at`;
    for (const value of [...valuesOf(member), ...valuesOf(member.replace("_at", ""))].slice(0, 3)) {
      const args = { [name]: value } as JsonObject;
      const found = await read(args);
      if (!inside(args, found)) continue;
      const at = Date.parse(String(value));
      const edge = (one: JsonValue): boolean => (isAfter ? Date.parse(String(one)) > at : Date.parse(String(one)) < at);
      // Whether the time itself is inside says the description; it is left to the reader.
      const [missing] = rows.filter(
        (row) => membersOf(row, member).some(edge) && !keysOf(found.rows).includes(keyOf(row)),
      );
      if (missing !== undefined) add(args, `lacks ${brief(missing)}`);
      const wrong = found.rows.find(
        (row) =>
          membersOf(row, member).length > 0 &&
          !membersOf(row, member).some((one) => edge(one) || Date.parse(String(one)) === at),
      );
      if (wrong !== undefined) add(args, `has ${brief(wrong)}`);
    }
  }

  /** Values of the member that an argument names, in all rows. */
  function valuesOf(name: string): JsonValue[] {
    return [...new Set(rows.flatMap((row) => membersOf(row, name)))];
  }

  function compare(args: JsonObject, name: string, found: readonly Row[], has: (had: JsonValue[]) => boolean): void {
    if (valuesOf(name).length === 0) return;
    const wanted = new Set(keysOf(rows.filter((row) => has(membersOf(row, name)))));
    const got = new Set(keysOf(found));
    const wrong = found.find((row) => !wanted.has(keyOf(row)) && membersOf(row, name).length > 0);
    if (wrong !== undefined)
      add(args, `has ${brief(wrong)}, whose ${name} is ${JSON.stringify(membersOf(wrong, name))}`);
    const missing = rows.find((row) => wanted.has(keyOf(row)) && !got.has(keyOf(row)));
    if (missing !== undefined) add(args, `lacks ${brief(missing)}`);
  }
}

/** So many objects are asked about for one that has rows. */
const MOST_OTHERS = 20;

/** Arguments with which a list has rows, if it is a list of something's. */
async function fullest(caller: Caller, shown: Shown, args: JsonObject): Promise<JsonObject> {
  const others = await caller.others(shown, args);
  let best = args;
  let most = 0;
  for (const one of others.slice(0, MOST_OTHERS)) {
    const { result = {} } = await caller.person.ask(shown.name, { ...one, page_size: 100 });
    const size = Number(result.total_size ?? (result[rowsIn(shown) ?? ""] as unknown[] | undefined)?.length ?? 0);
    if (size > most) [best, most] = [one, size];
  }
  return best;
}

/** What a row has under a name, or its singular, or within an object of that name. */
function membersOf(row: Row, name: string): JsonValue[] {
  const singular = name
    .replace(/ies$/, "y")
    .replace(/(ss|x|ch)es$/, "$1")
    .replace(/([^s])s$/, "$1");
  for (const one of [name, singular]) {
    const value = row[one];
    if (value !== undefined && value !== null) return Array.isArray(value) ? value.map(plain) : [plain(value)];
  }
  if (/_id$/.test(name)) {
    const inner = row[name.replace(/_id$/, "")];
    if (typeof inner === "object" && inner !== null && "id" in inner) return [(inner as Row).id!];
    const several = row[name.replace(/_id$/, "_ids")];
    if (Array.isArray(several)) return several;
  }
  return [];
}

const plain = (value: JsonValue): JsonValue =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? ((value.id ?? value.name ?? value) as JsonValue)
    : value;

const nameOf = (row: Row): string | undefined => {
  const found = row.name ?? row.title ?? row.value ?? row.ref_id;
  return typeof found === "string" ? found : undefined;
};

const brief = (row: Row): string => JSON.stringify({ id: row.id, name: nameOf(row) }).slice(0, 160);

function sample<T>(of: readonly T[], count: number): T[] {
  const step = Math.max(1, Math.floor(of.length / count));
  return of.filter((_, i) => i % step === 0).slice(0, count);
}
