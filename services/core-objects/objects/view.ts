import type { Message } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import { CORE, scopesOfServer } from "../../shared/platforms.js";
import type { Call, Caller } from "../../shared/rpc/call.js";
import { messageFrom } from "../../shared/rpc/message-from.js";
import type { Context } from "../context.js";
import { filterOf, tierOf } from "../policy.js";
import type { ObjectRecord } from "../record.js";
import { grantsFor, originWordOf } from "../sharing.js";
import type { Model, Refer } from "./model.js";

/**
 * The members of objects as a caller is shown them. What they refer to has its
 * name where the caller can read it: one look-up for all of them.
 *
 * @param named the references that are looked up.
 */
export async function membersOf(
  context: Context,
  model: Model,
  records: readonly ObjectRecord[],
  { caller }: Pick<Call, "caller">,
  named: readonly string[],
): Promise<Shown[]> {
  const refer = await referFrom(context, model, records, caller, named);
  return records.map((record) => Object.assign(shownOf(record, caller), model.view(record, refer)) as Shown);
}

/** What an object is shown with: what every object is, and what its kind adds. */
export type Shown = ReturnType<typeof shownOf> & Record<string, unknown>;

/** One object as a caller is shown it. */
export async function oneViewOf(
  context: Context,
  model: Model,
  record: ObjectRecord,
  call: Pick<Call, "caller">,
): Promise<Message> {
  const [members] = await membersOf(context, model, [record], call, Object.keys(model.references));
  return messageFrom(model.message, members as Record<string, unknown>);
}

/** The members that every object is shown with. */
export function shownOf(record: ObjectRecord, caller: Caller) {
  return {
    id: record._id,
    name: record.name,
    description: record.description,
    labels: [...record.labels],
    enabled: record.enabled,
    origin: originWordOf(record.origin),
    owner: ownerOf(record, caller),
    sharing: grantsFor(caller, record),
    yourAccess: tierOf(caller, record),
    etag: record.etag,
    createdAt: timestampFromDate(record.created_at),
    updatedAt: timestampFromDate(record.updated_at),
  };
}

/** The caller's own name is known; another user's would be a call to auth. */
function ownerOf({ owner }: ObjectRecord, { id, name }: Caller): { id: string; name?: string } | undefined {
  if (owner === "") return undefined;
  return owner === id ? { id, name } : { id: owner };
}

async function referFrom(
  context: Context,
  { references }: Model,
  records: readonly ObjectRecord[],
  caller: Caller,
  named: readonly string[],
): Promise<Refer> {
  const refer: Record<string, Refer[string]> = {};
  for (const field in references) refer[field] = withoutName;
  const lookedUp: Promise<void>[] = [];
  for (const field of named) {
    const ids = records.flatMap((record) => idsIn(record, field));
    if (ids.length > 0) lookedUp.push(lookUp(field, new Set(ids)));
  }
  if (lookedUp.length > 0) await Promise.all(lookedUp);
  return refer;

  async function lookUp(field: string, ids: ReadonlySet<string>): Promise<void> {
    const names = await namesOf(context, references[field] as string, ids, caller);
    refer[field] = (id) => ({ id, ...names.get(id) });
  }
}

function withoutName(id: string): { id: string } {
  return { id };
}

async function namesOf(
  context: Context,
  noun: string,
  ids: ReadonlySet<string>,
  caller: Caller,
): Promise<ReadonlyMap<string, { name: string }>> {
  if (!caller.scopes.has(READ)) return new Map();
  const filter = { _id: { $in: [...ids] }, ...filterOf(caller, "read") };
  const found = await context
    .collection(noun)
    .find(filter, { projection: { name: 1 } })
    .toArray();
  return new Map(found.map(({ _id, name }) => [_id, { name }]));
}

/** Without it a caller is shown what it writes, and not what that refers to. */
const [READ] = scopesOfServer(CORE.name);

/** The field of a record that holds a field of its items, such as `headers` of `headers.variable`. */
export function outerOf(field: string): string {
  const dot = field.indexOf(".");
  return dot < 0 ? field : field.slice(0, dot);
}

/** The ids that a field of a record holds, or a field of its items, such as `headers.variable`: several, one or none. */
export function idsIn(record: object, field: string): readonly string[] {
  const outer = outerOf(field);
  const value = (record as Record<string, unknown>)[outer];
  // Most objects refer to few others.
  if (value === undefined) return NONE;
  const items = Array.isArray(value) ? value : [value];
  if (items.length === 0) return NONE;
  const inner = field.slice(outer.length + 1);
  const ids = inner === "" ? items : items.map((item) => (item as Record<string, unknown> | undefined)?.[inner]);
  return ids.filter((id): id is string => typeof id === "string" && id !== "");
}

const NONE: readonly string[] = [];
