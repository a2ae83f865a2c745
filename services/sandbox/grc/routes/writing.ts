import { randomUUID } from "node:crypto";
import { type Body, type Field, isWebAddress } from "../kinds/field.js";
import type { Kind, View } from "../kinds/kind.js";
import { BROKEN, detail, FOLDER_REFUSED, FORBIDDEN, NOT_A_UUID, NOTHING, ok, type Reply, refused } from "../replies.js";
import { may, reaches } from "../rights.js";
import { type Json, type Row, timestamp } from "../world.js";
import { isUuid } from "./listing.js";

/** Finds an object that the caller may see; what is hidden is answered as what does not exist. */
export function find(kind: Kind, id: string, view: View): Row | Reply {
  if (!isUuid(id)) return NOT_A_UUID;
  const row = view.world.get(kind.path, id);
  if (row !== undefined && reaches(view.world, view.user, kind.codename, row)) return row;
  return detail(404, `No ${kind.model} matches the given query.`);
}

/** Whether a look-up was refused. */
export const isReply = (found: Row | Reply): found is Reply => "status" in found && !("created_at" in found);

/** Creates an object where the caller may add to its folder. */
export function createOne(kind: Kind, body: Body, view: View): Reply {
  const { world, user } = view;
  const problems = problemsOf(kind, body, view, true);
  if (problems !== undefined) return refused(problems);
  const given = typeof body.folder === "string" ? body.folder : undefined;
  const folder = given ?? kind.folderOf?.(body, world) ?? world.rootId;
  if (!may(world, user, `add_${kind.codename}`, folder)) return FOLDER_REFUSED;
  const link = linkRefusal(kind, body, view);
  if (link !== undefined) return link;
  const now = timestamp();
  const row: Row = { id: randomUUID(), folder, name: null, created_at: now, updated_at: now, is_published: true };
  for (const [name, field] of Object.entries(kind.fields)) {
    const none = field.kind === "many" ? [] : null;
    row[name] = body[name] ?? field.initial ?? none;
  }
  const refusal = check(kind, row, body, view);
  if (refusal !== undefined) return refusal;
  world.insert(kind.path, row);
  kind.created?.(row, world);
  return ok(kind.written(row), 201);
}

/** Changes the fields that are given. */
export function changeOne(kind: Kind, id: string, given: Body, view: View): Reply {
  const { world, user } = view;
  const found = find(kind, id, view);
  if (isReply(found)) return found;
  const closed = kind.closed?.(found, view) ?? [];
  const body = Object.fromEntries(Object.entries(given).filter(([name]) => !closed.includes(name)));
  if (!may(world, user, `change_${kind.codename}`, found.folder)) return FORBIDDEN;
  const problems = problemsOf(kind, body, view, false);
  if (problems !== undefined) return refused(problems);
  const folder = body.folder;
  if (typeof folder === "string" && !may(world, user, `add_${kind.codename}`, folder)) return FOLDER_REFUSED;
  const link = linkRefusal(kind, body, view);
  if (link !== undefined) return link;
  const row: Row = { ...found, ...(typeof folder === "string" && { folder }), updated_at: timestamp() };
  // Names that are not known, and those that are not written, are ignored without a word.
  for (const name of Object.keys(kind.fields)) if (body[name] !== undefined) row[name] = body[name];
  const refusal = check(kind, row, body, view);
  if (refusal !== undefined) return refusal;
  world.insert(kind.path, row);
  return ok(kind.written(row));
}

/** Deletes an object where the caller may. */
export function deleteOne(kind: Kind, id: string, view: View): Reply {
  const found = find(kind, id, view);
  if (isReply(found)) return found;
  const allowed = may(view.world, view.user, `delete_${kind.codename}`, found.folder);
  if (!allowed || !kind.verbs.includes("DELETE") || kind.isBuiltIn?.(found) === true) return FORBIDDEN;
  view.world.table(kind.path).delete(found.id);
  kind.deleted?.(found, view.world);
  return NOTHING;
}

function check(kind: Kind, row: Row, patch: Body, view: View): Reply | undefined {
  const twin = view.world
    .all(kind.path)
    .some(
      (o) =>
        o.id !== row.id &&
        o.folder === row.folder &&
        o.name === row.name &&
        (o.ref_id || null) === (row.ref_id || null),
    );
  if (kind.unique === true && twin && (patch.name !== undefined || patch.ref_id !== undefined)) {
    return refused({ name: `${row.name} is already used in this scope. Please choose another value.` });
  }
  const problem = kind.save?.(row, patch, view.world);
  if (problem === undefined || problem === BROKEN) return problem;
  return refused(problem as Json);
}

function problemsOf(kind: Kind, body: Body, view: View, creating: boolean): Record<string, Json> | undefined {
  const problems: Record<string, Json> = {};
  for (const [name, field] of Object.entries(kind.fields)) {
    const value = body[name];
    if (value === undefined) {
      if (creating && "required" in field && field.required === true) problems[name] = ["This field is required."];
    } else if (value !== null) {
      const problem = problemOf(field, value, view);
      if (problem !== undefined) problems[name] = [problem];
    }
  }
  return Object.keys(problems).length > 0 ? problems : undefined;
}

function problemOf(field: Field, value: Json, view: View): string | undefined {
  const gone = (id: Json) => `Invalid pk "${id}" - object does not exist.`;
  switch (field.kind) {
    case "choice":
      return typeof value !== "object" && String(value) in field.choices
        ? undefined
        : `"${value}" is not a valid choice.`;
    case "date":
      if (/^\d{4}-\d{2}-\d{2}$/.test(String(value))) return undefined;
      return "Date has wrong format. Use one of these formats instead: YYYY-MM-DD.";
    case "url":
      return isWebAddress(String(value)) ? undefined : "Enter a valid URL.";
    case "integer":
      if (!Number.isInteger(value)) return "A valid integer is required.";
      if (field.max !== undefined && Number(value) > field.max) {
        return `Ensure this value is less than or equal to ${field.max}.`;
      }
      if (field.min !== undefined && Number(value) < field.min) {
        return `Ensure this value is greater than or equal to ${field.min}.`;
      }
      return undefined;
    case "one":
      if (!isUuid(String(value))) return `“${value}” is not a valid UUID.`;
      return view.world.get(field.path, value) === undefined ? gone(value) : undefined;
    case "many": {
      const missing = (value as Json[]).find((id) => view.world.get(field.path, id) === undefined);
      return missing === undefined ? undefined : gone(missing);
    }
    default:
      return undefined;
  }
}

/** Links to what the caller may not see are refused. */
function linkRefusal(kind: Kind, body: Body, view: View): Reply | undefined {
  for (const [name, field] of Object.entries(kind.fields)) {
    if (field.kind !== "many") continue;
    const hidden = ((body[name] as string[] | undefined | null) ?? []).some((id) => {
      const row = view.world.get(field.path, id);
      return row !== undefined && !view.sees(field.path, row);
    });
    const word = LINKED[field.path] ?? field.path;
    if (hidden) return refused({ [name]: `You do not have permission to link to this ${word}` }, 403);
  }
  return undefined;
}

const LINKED: Readonly<Record<string, string>> = {
  "applied-controls": "appliedcontrol",
  assets: "asset",
  evidences: "evidence",
};
