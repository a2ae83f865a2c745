import type { Caller } from "../../shared/rpc/call.js";
import { failedPrecondition, invalidArgument } from "../../shared/rpc/errors.js";
import type { Context, Kind } from "../context.js";
import { filterOf, may } from "../policy.js";
import type { ObjectRecord } from "../record.js";
import type { Model } from "./model.js";
import { snakeOf } from "./names.js";
import { idsIn } from "./view.js";

/**
 * Checks that the caller can see what an object newly refers to; what somebody
 * else attached before stays.
 *
 * @throws ConnectError invalid_argument that names those the caller cannot see.
 */
export async function checkReferences(
  context: Context,
  { references }: Model,
  before: object,
  after: object,
  caller: Caller,
): Promise<void> {
  for (const [field, noun] of Object.entries(references)) {
    const there = new Set(idsIn(before, field));
    const added = idsIn(after, field).filter((id) => !there.has(id));
    if (added.length === 0) continue;
    const filter = { _id: { $in: added }, deleting: { $exists: false }, ...filterOf(caller, "read") };
    const seen = await context
      .collection(noun)
      .find(filter, { projection: { _id: 1 } })
      .toArray();
    const known = new Set(seen.map(({ _id }) => _id));
    const missing = added.filter((id) => !known.has(id));
    if (missing.length === 0) continue;
    const { plural } = context.kinds.find((kind) => kind.noun === noun)!;
    throw invalidArgument(
      `no ${noun} that you can see has the id ${missing.join(", ")}; list_${snakeOf(plural)} returns the ids`,
    );
  }
}

/**
 * Checks again, after the write that makes an object refer to others: who
 * deletes one of those marks it before looking for what refers to it, so that
 * one of the two sees the other.
 *
 * @param undo takes the write back where something referred to is gone.
 * @throws ConnectError invalid_argument as {@link checkReferences} does.
 */
export async function recheckReferences(
  context: Context,
  model: Model,
  { before, after }: { readonly before: object; readonly after: object },
  caller: Caller,
  undo: () => Promise<unknown>,
): Promise<void> {
  try {
    await checkReferences(context, model, before, after, caller);
  } catch (error) {
    await undo();
    throw error;
  }
}

/** As many as a refusal names of what refers to an object. */
const NAMED = 20;

/**
 * Checks that nothing refers to an object.
 *
 * @throws ConnectError failed_precondition that names what does, as far as the caller can see it.
 */
export async function checkUnused(context: Context, { noun }: Model, id: string, caller: Caller): Promise<void> {
  const uses: string[] = [];
  for (const kind of context.kinds) {
    const fields = Object.keys(kind.references).filter((field) => kind.references[field] === noun);
    for (const field of fields) uses.push(...(await usesIn(context, kind, field, id, noun, caller)));
  }
  if (uses.length > 0) throw failedPrecondition(`${uses.join("; ")}: remove it there first, or disable it`);
}

async function usesIn(
  context: Context,
  kind: Kind,
  field: string,
  id: string,
  noun: string,
  caller: Caller,
): Promise<string[]> {
  const using = await context
    .collection<ObjectRecord>(kind.noun)
    .find({ [field]: id }, { limit: NAMED + 1, projection: { name: 1, origin: 1, owner: 1, acl: 1 } })
    .toArray();
  if (using.length === 0) return [];
  const named = using.filter((one) => may(caller, "read", one)).map((one) => `${one.name} (${one._id})`);
  const hidden = using.length - named.length;
  const others = hidden === 0 ? [] : [`${hidden} that you cannot see`];
  return [
    `${kind.plural} use this ${noun}: ${[...named, ...others].join(", ")}${using.length > NAMED ? " and more" : ""}`,
  ];
}
