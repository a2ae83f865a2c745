import { randomBytes } from "node:crypto";
import type { Caller } from "../../shared/rpc/call.js";
import { aborted, notFound, permissionDenied } from "../../shared/rpc/errors.js";
import { quoted } from "../../shared/rpc/quoted.js";
import type { Filter } from "../../shared/store/store.js";
import type { Context } from "../context.js";
import { type Action, filterOf, may } from "../policy.js";
import type { ObjectRecord } from "../record.js";
import { snakeOf } from "./names.js";

// A write names in its filter what was read and what the caller may do, so
// that the gate is inside the write; where somebody else was faster it is
// tried again.

/** How often a write is tried again because somebody else changed the object in between. */
export const ATTEMPTS = 8;

/** @throws ConnectError not_found, also for what the caller cannot read. */
export async function readable(context: Context, noun: string, id: string, caller: Caller): Promise<ObjectRecord> {
  const found = await context.collection(noun).findOne({ _id: id, ...filterOf(caller, "read") });
  if (found !== null) return found;
  const { plural } = context.kinds.find((kind) => kind.noun === noun)!;
  throw notFound(`no ${noun} that you can see has the id ${quoted(id)}; list_${snakeOf(plural)} returns the ids`);
}

/**
 * What the caller may act upon, as it is now.
 *
 * @param etag what the caller has seen; "" for whatever there is.
 * @throws ConnectError not_found, permission_denied, or aborted for another etag.
 */
export async function writable(
  context: Context,
  noun: string,
  { id, etag, action }: { readonly id: string; readonly etag: string; readonly action: Action },
  caller: Caller,
): Promise<ObjectRecord> {
  const current = await readable(context, noun, id, caller);
  if (!may(caller, action, current)) throw permissionDenied(refusalOf(current, action, noun));
  if (etag !== "" && current.etag !== etag) {
    throw aborted(
      `this ${noun} changed after you read it: its etag is now ${current.etag}. Read it again, then repeat the call`,
    );
  }
  return current;
}

/** The object as it was read, while the caller may still do this to it: the filter of a write. */
export function unchanged({ _id, etag }: ObjectRecord, action: Action, caller: Caller): Filter<ObjectRecord> {
  return { _id, etag, ...filterOf(caller, action) };
}

/** @returns what is thrown when every attempt at a write met another's. */
export function contended(noun: string): Error {
  return aborted(`others are changing this ${noun} at the same time: repeat the call`);
}

const ETAG_BYTES = 9;
/** Random bytes for the next etags: to ask the system for those of each took 3 % of an update. */
let entropy = Buffer.alloc(0);

/** An etag that no object had before. */
export function newEtag(): string {
  if (entropy.length === 0) entropy = randomBytes(ETAG_BYTES * 128);
  const own = entropy.toString("base64url", 0, ETAG_BYTES);
  entropy = entropy.subarray(ETAG_BYTES);
  return own;
}

function refusalOf({ origin }: ObjectRecord, action: Action, noun: string): string {
  if (origin === "builtin") return `built-in ${noun}s are read-only: create your own with create_${snakeOf(noun)}`;
  if (origin === "company") return `only administrators can change company-managed ${noun}s`;
  if (action === "modify") return `this ${noun} is shared with you only to view: ask its owner for the config tier`;
  const done = action === "share" ? "sharing" : "deleting";
  return `${done} this ${noun} needs the manage tier: ask its owner for it`;
}
