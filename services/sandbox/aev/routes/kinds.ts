import { randomUUID } from "node:crypto";
import { type Body, isBlank, objectOf, textOf } from "../input.js";
import type { Entry, Field, Json, Kind, Values, Verb } from "../kinds/kind.js";
import { type Shelf, shelfOf } from "../kinds/shelf.js";
import { KINDS } from "../kinds/table.js";
import { Bare, invalid, notFound, ok, type Reply, refusal, unstorable } from "../replies.js";
import { type Actor, holds, need } from "../rights.js";
import { type Fields, searchRows } from "../search.js";
import { iso } from "../views/scenarios.js";
import type { World } from "../world.js";
import { assetGroupRoutes } from "./asset-groups.js";
import type { Answer, Route } from "./route.js";

/** The routes of every kind of the table. */
export function kindRoutes(world: World): Route[] {
  return KINDS.flatMap((kind) => {
    const answers = answersOf(kind, shelfOf(world, kind.path));
    const routes = kind.verbs.map((verb): Route => ({ ...placeOf(kind, verb), answer: answers[verb] }));
    return kind.path === "asset_groups" ? [...assetGroupRoutes(world, answers), ...routes] : routes;
  });
}

function placeOf({ path, creates = path }: Kind, verb: Verb): Pick<Route, "method" | "path"> {
  switch (verb) {
    case "search":
      return { method: "POST", path: `/${path}/search` };
    case "list":
      return { method: "GET", path: `/${path}` };
    case "get":
      return { method: "GET", path: `/${path}/{id}` };
    case "find":
      return { method: "POST", path: `/${path}/find` };
    case "create":
      return { method: "POST", path: `/${creates}` };
    case "update":
      return { method: "PUT", path: `/${path}/{id}` };
    case "delete":
      return { method: "DELETE", path: `/${path}/{id}` };
  }
}

function answersOf(kind: Kind, shelf: Shelf): Readonly<Record<Verb, Answer>> {
  const fields = fieldsOf(kind);
  const rules = { placesNulls: kind.placesNulls === true };
  const readable = (actor: Actor) => need(kind.access === undefined || holds(actor, `ACCESS_${kind.access}`));
  const writable = (actor: Actor, right: "MANAGE" | "DELETE") => need(holds(actor, `${right}_${kind.manage}`));
  const here = ({ tenant }: Actor): Entry[] =>
    shelf.all().filter((entry) => {
      const { tenants = entry.tenant === undefined ? [tenant] : [entry.tenant] } = entry;
      return tenants.includes(tenant);
    });
  /** Looked up in every tenant, as the platform does. */
  const byId = (id: string): Entry => {
    const entry = shelf.get(id);
    if (entry === undefined) throw notFound(kind.unknown === "null" ? null : kind.unknown.replace("{id}", id));
    return entry;
  };
  const keep = (entry: Entry, verb: Verb): Reply => {
    shelf.put(entry);
    return ok(shownAs(kind, shelf.get(entry.id) ?? entry, kind.answers?.[verb]));
  };

  /** @throws Refusal 409 for an object with the values of another. */
  function needAlone({ id, tenant, values }: Entry): void {
    const keys = kind.unique ?? [];
    if (keys.length === 0) return;
    const isSame = (other: Entry) =>
      other.id !== id && other.tenant === tenant && keys.every((key) => other.values[key] === values[key]);
    if (!shelf.all().some(isSame)) return;
    const [columns, held] = [[...keys, "tenant_id"].join(", "), keys.map((key) => values[key]).join(", ")];
    const reason = `ERROR: duplicate key value violates unique constraint "unique_${kind.path}"`;
    throw unstorable(
      `${reason}\n  Detail: Key (${columns})=(${held}, ${tenant}) already exists.`,
      `unique_${kind.path}`,
    );
  }

  return {
    search: ({ actor, body }) => {
      readable(actor);
      return ok(searchRows(here(actor), fields, body, rules, (entry) => shownAs(kind, entry, "row")));
    },
    list: ({ actor }) => {
      readable(actor);
      return ok(here(actor).map((entry) => shownAs(kind, entry)));
    },
    get: ({ actor, ids: [id = ""] }) => {
      readable(actor);
      return ok(shownAs(kind, byId(id), "one"));
    },
    find: ({ actor, body }) => {
      readable(actor);
      if (!Array.isArray(body)) throw new Bare(400);
      return ok(
        here(actor)
          .filter(({ id }) => body.includes(id))
          .map((entry) => shownAs(kind, entry)),
      );
    },
    create: ({ actor, body, now }) => {
      writable(actor, "MANAGE");
      const id = randomUUID();
      const values = valuesIn(kind, { id, body: objectOf(body), now, verb: "create", before: undefined });
      const entry = { id, tenant: actor.tenant, values, createdAt: now, updatedAt: now };
      needAlone(entry);
      return keep(entry, "create");
    },
    update: ({ actor, ids: [id = ""], body, now }) => {
      writable(actor, "MANAGE");
      const before = shelf.get(id)?.values;
      const values = valuesIn(kind, { id, body: objectOf(body), now, verb: "update", before });
      const entry = byId(id);
      // The platform fails when an object of another tenant is changed.
      if (entry.tenant !== actor.tenant) throw new Bare(500);
      const after = { ...entry, values, updatedAt: now };
      needAlone(after);
      return keep(after, "update");
    },
    delete: ({ actor, ids: [id = ""] }) => {
      writable(actor, "DELETE");
      if (!shelf.delete(id) && kind.forgiving !== true) byId(id);
      return { status: kind.gone ?? 200, body: undefined };
    },
  };
}

/** A write, and what the object was before. */
interface Write {
  readonly id: string;
  readonly verb: Verb;
  readonly body: Body;
  readonly before: Values | undefined;
  readonly now: number;
}

/**
 * What a write makes of an object: most replace, so that what they leave out
 * becomes empty.
 *
 * @throws Bare or Refusal 400.
 */
function valuesIn({ fields, keeps = [], silent = [] }: Kind, { id, verb, body, before, now }: Write): Values {
  const isKept = (name: string) => verb === "update" && keeps.includes(name);
  const problems: Record<string, string> = {};
  const values: Record<string, Json> = {};
  for (const [name, field] of Object.entries(fields)) {
    const given = body[name] as Json | undefined;
    if (field.fixed === true || isKept(name)) values[name] = before?.[name] ?? emptyOf(field);
    else if (typeof given === "number" && field.max !== undefined && given > field.max)
      problems[name] = `must be less than or equal to ${field.max}`;
    else if (!isMissing(given)) values[name] = field.made?.(given, id, now) ?? valueIn(field, given);
    else if (field.required !== true) values[name] = emptyOf(field);
    else problems[name] = field.missing ?? "This value should not be blank.";
  }
  const missing = Object.keys(problems);
  const [only = ""] = missing;
  const said = fields[only]?.missing;
  if (missing.length === 1 && said !== undefined) throw refusal(400, said);
  if (missing.length > 0) throw silent.includes(verb) ? new Bare(400) : invalid(problems);
  return values;
}

function isMissing(given: Json | undefined): given is null | undefined {
  if (typeof given === "string") return isBlank(given);
  return given === undefined || given === null || (Array.isArray(given) && given.length === 0);
}

const emptyOf = ({ type, initial }: Field): Json => initial ?? (type === "texts" ? [] : null);

/** @throws Bare 400 for a value of another type, or a word that is not one. */
function valueIn({ type, words }: Field, given: Json): Json {
  if (words !== undefined && !words.includes(String(given))) throw new Bare(400);
  switch (type) {
    case "text":
      return textOf({ given }, "given");
    case "texts":
      if (!Array.isArray(given)) throw new Bare(400);
      return given.map(String);
    case "number":
      if (typeof given !== "number") throw new Bare(400);
      return given;
    default:
      return given;
  }
}

function fieldsOf({ fields, times }: Kind): Fields<Entry> {
  const searched = Object.entries(fields).map(([name, { filter = false, sort = false, search = false }]) => [
    name,
    { of: ({ values }: Entry) => (values[name] ?? null) as string | null, filter, sort, text: search },
  ]);
  const at = { filter: true, sort: true, instant: true };
  const dated =
    times === undefined ? {} : { [`${times}_updated_at`]: { of: (entry: Entry) => entry.updatedAt, ...at } };
  return { ...Object.fromEntries(searched), ...dated };
}

/** An object in the platform's JSON: every member, or those of one form. */
function shownAs(kind: Kind, entry: Entry, form?: "row" | "one"): Values {
  const { id, fields, times, listened, sparse = false } = kind;
  const all: Record<string, Json> = {
    ...(listened === true && { listened }),
    [id]: entry.id,
    ...Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, entry.values[name] ?? emptyOf(field)])),
    ...(times !== undefined && {
      [`${times}_created_at`]: iso(entry.createdAt),
      [`${times}_updated_at`]: iso(entry.updatedAt),
    }),
  };
  const names = form === undefined ? undefined : kind[form];
  if (names === undefined) return all;
  const shown = [id, ...names].filter((name) => !(sparse && form === "one" && all[name] === null));
  return Object.fromEntries(shown.map((name) => [name, all[name] ?? null]));
}
