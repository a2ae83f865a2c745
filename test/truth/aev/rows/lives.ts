import { expect } from "vitest";
import { changesBetween, type Standing } from "../../frame/changes.js";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import type { Json } from "../platform.js";
import { holdsNothingHidden, inTenant, personOf, readWhole, refuses, type Stage, seenBy } from "../stage.js";
import { FIRST } from "../world.js";
import { NO_RIGHT, SEERS } from "./lists.js";

// What is true of every kind of object with a list, a read and writes of its
// own: one row a kind, one kind of proof a tool.

/** Who may write in a tenant. */
export const WRITERS = ["administrator", "analyst", "outsider"] as const;

/** Where an object of a kind lies: below a scenario, or by itself. */
export interface Place {
  /** The route of its collection inside the tenant, such as /channels. */
  readonly route: string;
  /** The arguments that name what it is below. */
  readonly args?: object;
}

/** A kind of object. */
export interface Life {
  readonly noun: string;
  /** Where those of a tenant lie. */
  readonly place: (stage: Stage, tenant: string) => Place;
  readonly idKey: string;
  /** The argument that names one, such as channel_id, and the member of answers that holds one. */
  readonly argument: string;
  readonly member: string;
  /** Everything of one as the administrator reads it, by id. */
  readonly all: (stage: Stage, tenant: string) => Promise<Json[]>;
  /** Makes one past the tools; its id. */
  readonly make: (stage: Stage, tenant: string, name: string) => Promise<string>;
  readonly is: (told: Row, direct: Json) => void;
  readonly read?: { readonly tool: string; readonly args?: object };
  readonly create?: {
    readonly tool: string;
    readonly args: (stage: Stage, name: string, tenant: string) => Promise<object> | object;
  };
  readonly update?: {
    readonly tool: string;
    /** Arguments, and the fields of the platform that they change. */
    readonly changes: (stage: Stage, tenant: string) => readonly (readonly [object, readonly string[]])[];
  };
  readonly remove?: { readonly tool: string };
  /** The rights that are missing where somebody may not. */
  readonly right: string;
  readonly writers?: readonly string[];
  /** Fields that change by themselves. */
  readonly ignored?: readonly string[];
}

const admin = (stage: Stage, method: string, path: string, body?: object) =>
  stage.platform.need(stage.world.emails.administrator!, method, path, body);

/** A request of the administrator inside a tenant. */
export const ask = (stage: Stage, tenant: string, method: string, route: string, body?: object): Promise<Json> =>
  admin(stage, method, `/api/tenants/${tenant}${route}`, body);

/** All rows of a search, as the administrator. */
export const found = async (stage: Stage, tenant: string, route: string, id: string): Promise<Json[]> =>
  (await seenBy(stage, "administrator", tenant).below(route, id)) ?? [];

async function standing(stage: Stage, life: Life): Promise<Standing> {
  const standing = new Map<string, unknown>();
  for (const tenant of [FIRST, stage.world.ids.second!]) {
    for (const one of await life.all(stage, tenant)) standing.set(one[life.idKey], one);
  }
  return standing;
}

const tenantOf = (stage: Stage, person: string): string => stage.world.tenantOf(person);
const elsewhere = (stage: Stage, person: string): string =>
  tenantOf(stage, person) === FIRST ? stage.world.ids.second! : FIRST;
const argsOf = (stage: Stage, person: string, life: Life): object => ({
  ...inTenant(stage, person),
  ...life.place(stage, tenantOf(stage, person)).args,
});

async function made(stage: Stage, life: Life, tenant: string, name: string): Promise<string> {
  const id = await life.make(stage, tenant, `${name} ${stage.world.run}`);
  stage.world.removeLater(tenant, `${life.place(stage, tenant).route}/${id}`);
  return id;
}

const REFUSED = (right: string): RegExp => new RegExp(`unknown tool|there is no|${right}`);

/** The rows of a kind: what is true of what reads one and of what writes one. */
export function truthsOf(life: Life): Truth<Stage>[] {
  const { writers = WRITERS } = life;
  return [
    ...(life.read === undefined ? [] : [readOf(life)]),
    ...(life.create === undefined ? [] : [createOf(life, life.create, writers)]),
    ...(life.update === undefined ? [] : [updateOf(life, life.update, writers)]),
    ...(life.remove === undefined ? [] : [removeOf(life, life.remove, writers)]),
  ];
}

/** Whom the platform does not know is told so, and changes nothing. */
function strangerTo(
  life: Life,
  tool: string,
  more: (stage: Stage) => Promise<object> | object,
): Truth<Stage>["cases"][0] {
  return {
    about: "tells who has no account so, and changes nothing",
    as: ["stranger"],
    async prove(stage, person) {
      const asked = { ...life.place(stage, FIRST).args, ...(await more(stage)) };
      const before = await standing(stage, life);
      await refuses(stage, person, tool, asked, /no account|unknown tool/);
      expect(changesBetween(before, await standing(stage, life), life.ignored)).toEqual([]);
    },
  };
}

/** The argument that names an object made for nobody. */
const naming = (life: Life) => async (stage: Stage) => ({
  [life.argument]: await made(stage, life, FIRST, "Nobody's"),
});

function readOf(life: Life): Truth<Stage> {
  const { tool, args = {} } = life.read as { tool: string; args?: object };
  return {
    tool,
    cases: [
      {
        about: "tells what the platform says, to whom the platform says it",
        as: SEERS,
        async prove(stage, person) {
          const tenant = tenantOf(stage, person);
          const ids = [
            await made(stage, life, tenant, "Read"),
            ...(await life.all(stage, tenant)).map((one) => one[life.idKey]),
          ];
          for (const id of ids.slice(0, 4)) {
            const all = { ...argsOf(stage, person, life), ...args, [life.argument]: id };
            const { result, refusal, text } = await personOf(stage, person).ask(tool, all);
            const shown = await shownOf(stage, person, life, id);
            if (shown === undefined) {
              expect(refusal).toMatch(REFUSED(life.right));
              continue;
            }
            expect(refusal).toBe("");
            const [direct] = (await life.all(stage, tenant)).filter((one) => one[life.idKey] === id);
            life.is(result![life.member] as Row, direct);
            await holdsNothingHidden(stage, person, text, shown);
          }
        },
      },
      {
        about: "finds nothing of another tenant and nothing unknown",
        as: SEERS,
        async prove(stage, person) {
          const other = await made(stage, life, elsewhere(stage, person), "Other");
          for (const id of [other, "00000000-0000-4000-8000-000000000000"]) {
            const all = { ...argsOf(stage, person, life), ...args, [life.argument]: id };
            await refuses(stage, person, tool, all, REFUSED(life.right));
          }
        },
      },
      strangerTo(life, tool, naming(life)),
    ],
  };
}

/** An object as the platform itself shows it to somebody, by any of the routes that show it. */
async function shownOf(stage: Stage, person: string, life: Life, id: string): Promise<Json | undefined> {
  const { route } = life.place(stage, tenantOf(stage, person));
  const seen = seenBy(stage, person);
  const one = await seen.read(`${route}/${id}`);
  if (one !== undefined) return one;
  const whole = await seen.read(route);
  return Array.isArray(whole) ? whole.find((each) => each[life.idKey] === id) : undefined;
}

function createOf(life: Life, { tool, args }: NonNullable<Life["create"]>, writers: readonly string[]): Truth<Stage> {
  return {
    tool,
    cases: [
      {
        about: "makes what was asked for and nothing else",
        as: writers,
        async prove(stage, person) {
          const tenant = tenantOf(stage, person);
          const name = `Made by ${person} ${stage.world.run}`;
          // What an object refers to is made first.
          const asked = { ...argsOf(stage, person, life), ...(await args(stage, name, tenant)) };
          const before = await standing(stage, life);
          const said = await personOf(stage, person).get<Json>(tool, asked);
          const told = said[life.member] as Row;
          stage.world.removeLater(tenant, `${life.place(stage, tenant).route}/${told.id}`);
          expect(changesBetween(before, await standing(stage, life), life.ignored)).toEqual([`+${told.id}`]);
          const [direct] = (await life.all(stage, tenant)).filter((one) => one[life.idKey] === told.id);
          life.is(told, direct);
        },
      },
      {
        about: "is refused naming the right, and makes nothing",
        as: SEERS.filter((person) => !writers.includes(person)),
        async prove(stage, person) {
          const asked = {
            ...argsOf(stage, person, life),
            ...(await args(stage, `No ${stage.world.run}`, tenantOf(stage, person))),
          };
          const before = await standing(stage, life);
          await refuses(stage, person, tool, asked, REFUSED(life.right));
          expect(changesBetween(before, await standing(stage, life), life.ignored)).toEqual([]);
        },
      },
      strangerTo(life, tool, (stage) => args(stage, `No ${stage.world.run}`, FIRST)),
    ],
  };
}

function updateOf(
  life: Life,
  { tool, changes }: NonNullable<Life["update"]>,
  writers: readonly string[],
): Truth<Stage> {
  return {
    tool,
    cases: [
      {
        about: "changes what was asked for and keeps the rest",
        as: writers,
        async prove(stage, person) {
          const tenant = tenantOf(stage, person);
          const id = await made(stage, life, tenant, `For ${person}`);
          let before = await standing(stage, life);
          for (const [change, fields] of changes(stage, tenant)) {
            const asked = { ...argsOf(stage, person, life), [life.argument]: id, ...change };
            const said = await personOf(stage, person).get<Json>(tool, asked);
            const after = await standing(stage, life);
            const changed = changesBetween(before, after, life.ignored);
            expect(new Set(changed.map((one) => one.split(".").slice(0, 2).join(".")))).toEqual(
              new Set(fields.map((field) => `${id}.${field}`)),
            );
            life.is(said[life.member] as Row, after.get(id));
            before = after;
          }
        },
      },
      {
        about: "is refused naming the right, and changes nothing",
        as: SEERS.filter((person) => !writers.includes(person)),
        async prove(stage, person) {
          const tenant = tenantOf(stage, person);
          const id = await made(stage, life, tenant, "Not theirs");
          const [[change] = [{}]] = changes(stage, tenant);
          const before = await standing(stage, life);
          const asked = { ...argsOf(stage, person, life), [life.argument]: id, ...change };
          await refuses(stage, person, tool, asked, REFUSED(life.right));
          expect(changesBetween(before, await standing(stage, life), life.ignored)).toEqual([]);
        },
      },
      {
        about: "reaches nothing of another tenant",
        as: writers,
        async prove(stage, person) {
          const id = await made(stage, life, elsewhere(stage, person), "Elsewhere");
          const [[change] = [{}]] = changes(stage, tenantOf(stage, person));
          const before = await standing(stage, life);
          const asked = { ...argsOf(stage, person, life), [life.argument]: id, ...change };
          await refuses(stage, person, tool, asked, /there is no/);
          expect(changesBetween(before, await standing(stage, life), life.ignored)).toEqual([]);
        },
      },
      strangerTo(life, tool, async (stage) => ({ ...(await naming(life)(stage)), ...changes(stage, FIRST)[0]?.[0] })),
    ],
  };
}

function removeOf(life: Life, { tool }: NonNullable<Life["remove"]>, writers: readonly string[]): Truth<Stage> {
  return {
    tool,
    cases: [
      {
        about: "takes away that one and nothing else",
        as: writers,
        async prove(stage, person) {
          const id = await made(stage, life, tenantOf(stage, person), "Gone");
          const before = await standing(stage, life);
          const asked = { ...argsOf(stage, person, life), [life.argument]: id };
          const told = await personOf(stage, person).get<Json>(tool, asked);
          expect(told.deleted.id).toBe(id);
          expect(changesBetween(before, await standing(stage, life), life.ignored)).toEqual([`-${id}`]);
          await refuses(stage, person, tool, asked, /there is no/);
        },
      },
      {
        about: "is refused naming the right, or finds nothing of another tenant, and takes nothing away",
        as: SEERS,
        async prove(stage, person) {
          const tenant = writers.includes(person) ? elsewhere(stage, person) : tenantOf(stage, person);
          const id = await made(stage, life, tenant, "Stays");
          const before = await standing(stage, life);
          const asked = { ...argsOf(stage, person, life), [life.argument]: id };
          await refuses(stage, person, tool, asked, REFUSED(life.right));
          expect(changesBetween(before, await standing(stage, life), life.ignored)).toEqual([]);
        },
      },
      strangerTo(life, tool, naming(life)),
    ],
  };
}

/** A list, and what the platform itself shows of it. */
export interface Listing {
  readonly tool: string;
  readonly rows: string;
  readonly idKey: string;
  /** What the platform shows somebody; undefined where that person may not ask. */
  readonly direct: (stage: Stage, person: string) => Promise<Json[] | undefined>;
  readonly args?: (stage: Stage, tenant: string) => object;
  readonly only?: (row: Json, stage: Stage) => boolean;
  /** What rows are ordered by, as text; the platform's order where left out. */
  readonly key?: (row: Json) => string;
  readonly is: (told: Row, direct: Json) => void;
  readonly right: string;
}

const text = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);

/** The row of a list. */
export function listTruth(tool: string, listings: readonly Omit<Listing, "tool">[]): Truth<Stage> {
  return {
    tool,
    cases: [
      ...listings.map((list, i) => ({
        about: `gives what the platform has, once and in order: question ${i + 1}`,
        as: i === 0 ? SEERS : WRITERS,
        prove: (stage: Stage, person: string) => proveList(stage, person, { ...list, tool }),
      })),
      {
        about: "tells who has no account so",
        as: ["stranger"],
        prove: (stage: Stage, person: string) =>
          refuses(stage, person, tool, {}, /no account|unknown tool|Give exactly one|required|must/i),
      },
    ],
  };
}

async function proveList(stage: Stage, person: string, list: Listing): Promise<void> {
  const args = { ...inTenant(stage, person), ...list.args?.(stage, tenantOf(stage, person)) };
  const all = await list.direct(stage, person);
  if (all === undefined) {
    await refuses(stage, person, list.tool, args, NO_RIGHT(`${list.right}|there is no`));
    return;
  }
  const { refusal } = await personOf(stage, person).ask(list.tool, { ...args, page_size: 1 });
  const expected = all.filter((row) => list.only?.(row, stage) ?? true);
  // Whom the platform shows an empty list for lack of a right is told of the right.
  if (refusal !== "" && expected.length === 0) {
    expect(refusal).toMatch(NO_RIGHT(`${list.right}|there is no`));
    return;
  }
  const { key } = list;
  if (key !== undefined) expected.sort((a, b) => text(key(a), key(b)) || text(a[list.idKey], b[list.idKey]));
  const { rows } = await readWhole(stage, person, { tool: list.tool, rows: list.rows, args, pageSize: 7 });
  const ids = expected.map((row) => row[list.idKey]);
  if (key === undefined) expect(rows.map(({ id }) => id).sort()).toEqual([...ids].sort());
  else expect(rows.map(({ id }) => id)).toEqual(ids);
  const byId = new Map(expected.map((row) => [row[list.idKey], row]));
  for (const row of rows) list.is(row, byId.get(row.id));
}
