import type { Caller } from "../../shared/rpc/call.js";
import { failedPrecondition, invalidArgument } from "../../shared/rpc/errors.js";
import { quotedAll } from "../../shared/rpc/quoted.js";
import type { Context, Kind } from "../context.js";
import { filterOf, may } from "../policy.js";
import type { ObjectRecord } from "../record.js";
import type { Model } from "./model.js";
import { snakeOf } from "./names.js";
import { idsIn } from "./view.js";

/** What an object referred to, and what changes of it: fields that stay as they are may be left out. */
export interface Referring {
  readonly before: object;
  readonly after: object;
}

/**
 * Checks that the caller can see what an object newly refers to; what somebody
 * else attached before stays.
 *
 * @throws ConnectError invalid_argument that names those the caller cannot see.
 */
export async function checkReferences(
  context: Context,
  { references }: Model,
  { before, after }: Referring,
  caller: Caller,
): Promise<void> {
  for (const field in references) {
    const ids = idsIn(after, field);
    if (ids.length === 0) continue;
    const noun = references[field] as string;
    const there = new Set(idsIn(before, field));
    const added = ids.filter((id) => !there.has(id));
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
      `no ${noun} that you can see has the id ${quotedAll(missing)}; list_${snakeOf(plural)} returns the ids`,
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
  referring: Referring,
  caller: Caller,
  undo: () => Promise<unknown>,
): Promise<void> {
  try {
    await checkReferences(context, model, referring, caller);
  } catch (error) {
    await undo();
    throw error;
  }
}

/** As many as a refusal names of what refers to an object. */
const NAMED = 20;

/** An object that is to go, and the nouns of kinds whose references to it are dealt with otherwise. */
interface Going {
  readonly id: string;
  readonly aside: readonly string[];
}

/**
 * Checks that nothing refers to an object.
 *
 * @throws ConnectError failed_precondition that names what does, as far as the caller can see it, and what to do.
 */
export async function checkUnused(
  context: Context,
  { noun }: Model,
  { id, aside }: Going,
  caller: Caller,
): Promise<void> {
  const uses: string[] = [];
  for (const kind of context.kinds) {
    if (aside.includes(kind.noun)) continue;
    for (const [field, referred] of Object.entries(kind.references))
      if (referred === noun) uses.push(...(await usesIn(context, { kind, field, id, noun }, caller)));
  }
  if (uses.length > 0) throw failedPrecondition(uses.join("; "));
}

interface Used {
  readonly kind: Kind;
  readonly field: string;
  readonly id: string;
  readonly noun: string;
}

/** One sentence of those that the caller can change, and one of those that only others can: each says what to do. */
async function usesIn(context: Context, { kind, field, id, noun }: Used, caller: Caller): Promise<string[]> {
  const using = await context
    .collection<ObjectRecord>(kind.noun)
    .find({ [field]: id }, { limit: NAMED + 1, projection: { name: 1, origin: 1, owner: 1, acl: 1 } })
    .toArray();
  const [mine, others] = [true, false].map((is) => using.filter((one) => may(caller, "modify", one) === is)) as [
    ObjectRecord[],
    ObjectRecord[],
  ];
  const more = using.length > NAMED ? " and more" : "";
  const said: string[] = [];
  if (mine.length > 0)
    said.push(`${kind.plural} use this ${noun}: ${mine.map(nameAndId).join(", ")}${more}: ${kind.detaching[field]}`);
  if (others.length > 0) {
    const named = others.filter((one) => may(caller, "read", one)).map(nameAndId);
    const hidden = others.length - named.length;
    const all = [...named, ...(hidden === 0 ? [] : [`${hidden} that you cannot see`])].join(", ");
    said.push(
      `${kind.plural} of others use this ${noun}: ${all}${more}: ask their owners, or turn it off with update_${snakeOf(noun)} and enabled false, so that nothing uses it`,
    );
  }
  return said;
}

function nameAndId({ name, _id }: ObjectRecord): string {
  return `${name} (${_id})`;
}
