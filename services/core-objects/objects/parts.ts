import type { MessageInitShape } from "@bufbuild/protobuf";
import type { UnsharedPartSchema } from "#proto/core/v1/sharing_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import type { Caller } from "../../shared/rpc/call.js";
import { permissionDenied } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { type Actor, accessOf, may } from "../policy.js";
import type { ObjectRecord } from "../record.js";
import { bytesOf, takenBy } from "../room.js";
import { nameOf, sharingAfter } from "../sharing.js";
import { ATTEMPTS, newEtag, unchanged } from "./gate.js";
import { tellReach } from "./reach.js";
import { idsIn } from "./view.js";

// Who is given an agent works with it as themselves: what it refers to is theirs only if somebody shared that as well.
// These parts are found when it is shared, and named or shared in the same call.

/** What an object refers to, with those who use the object and cannot use this. */
export interface Part {
  readonly noun: string;
  readonly record: ObjectRecord;
  /** As an acl names them. */
  readonly lacking: readonly string[];
}

/** The parts of an answer that are named of one, and users and groups that are named of a part. */
const SHOWN = { parts: 50, others: 20 };
/** What is read of a part. */
const PART = { name: 1, origin: 1, owner: 1, acl: 1, access: 1, enabled: 1 } as const;

/** The parts of an object that some of those it is shared with cannot use. Nothing for a kind without parts. */
export async function unsharedParts(context: Context, noun: string, object: ObjectRecord): Promise<Part[]> {
  const principals = object.origin === "company" ? ["all"] : object.acl.map(({ p }) => p);
  if (principals.length === 0) return [];
  const groups = new Map<string, readonly string[]>();
  const parts: Part[] = [];
  for (const [part, record] of await partsOf(context, noun, object)) {
    const lacking: string[] = [];
    for (const principal of principals)
      if (!(await canUse(context, principal, record, groups))) lacking.push(principal);
    if (lacking.length > 0) parts.push({ noun: part, record, lacking });
  }
  return parts;
}

/** @throws ConnectError permission_denied, if the caller cannot share one of them. */
export function checkShareableParts(parts: readonly Part[], caller: Caller): void {
  const foreign = parts.filter(({ record }) => !may(caller, "share", record));
  if (foreign.length > 0)
    throw permissionDenied(
      `you cannot share ${foreign.map((part) => wordsFor(part, caller)).join(", ")}: omit share_parts, or ask the owners to share them`,
    );
  for (const part of parts) accessWith(part.record, part);
}

/** Shares parts with those who lack them. What was taken from the caller meanwhile stays as it is, and is returned. */
export async function shareParts(context: Context, parts: readonly Part[], caller: Caller): Promise<Part[]> {
  const left: Part[] = [];
  for (const part of parts) if (!(await sharePart(context, part, caller))) left.push(part);
  return left;
}

/** Parts as an answer names them. */
export function shownParts(parts: readonly Part[], caller: Caller): MessageInitShape<typeof UnsharedPartSchema>[] {
  return parts.slice(0, SHOWN.parts).map(({ noun, record, lacking }) => ({
    kind: noun,
    id: record._id,
    ...(may(caller, "read", record) && { name: record.name }),
    others: lacking.slice(0, SHOWN.others).map(nameOf),
    youCanShare: may(caller, "share", record),
  }));
}

/** What an object refers to, and what that refers to if it has parts itself. */
async function partsOf(context: Context, noun: string, object: ObjectRecord): Promise<[string, ObjectRecord][]> {
  const kind = context.kinds.find((one) => one.noun === noun);
  if (kind?.hasParts !== true) return [];
  const found: [string, ObjectRecord][] = [];
  for (const [field, part] of Object.entries(kind.references)) {
    const ids = idsIn(object, field);
    if (ids.length === 0) continue;
    const inner = context.kinds.find((one) => one.noun === part)?.hasParts === true;
    const records = await context
      .collection(part)
      .find({ _id: { $in: [...ids] } }, inner ? {} : { projection: PART })
      .toArray();
    for (const record of records) found.push([part, record], ...(inner ? await partsOf(context, part, record) : []));
  }
  return found;
}

/** The groups of a user are asked for only if a group decides. */
async function canUse(
  { principals }: Context,
  principal: string,
  part: ObjectRecord,
  groups: Map<string, readonly string[]>,
): Promise<boolean> {
  if (may(actorOf(principal, []), "read", part)) return true;
  if (!principal.startsWith("u:") || !part.acl.some(({ p }) => p.startsWith("g:"))) return false;
  const id = principal.slice(2);
  const held = groups.get(id) ?? (await principals.groupsOf(id));
  groups.set(id, held);
  return may(actorOf(principal, held), "read", part);
}

function actorOf(principal: string, groups: readonly string[]): Actor {
  if (principal.startsWith("u:")) return { id: principal.slice(2), groups, admin: false };
  return { id: "", groups: principal.startsWith("g:") ? [principal.slice(2)] : [], admin: false };
}

async function sharePart(context: Context, part: Part, caller: Caller): Promise<boolean> {
  const { noun, record } = part;
  const objects = context.collection(noun);
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const current = await objects.findOne({ _id: record._id });
    if (current === null || !may(caller, "share", current)) return false;
    const changed = { ...accessWith(current, part), etag: newEtag(), updated_at: new Date() };
    const taken = bytesOf({ ...current, ...changed });
    const grows = taken - takenBy(current);
    try {
      await context.room.take(current.owner, 0, grows);
    } catch {
      return false;
    }
    const next = await objects.findOneAndUpdate(
      unchanged(current, "share", caller),
      { $set: { ...changed, taken } },
      { returnDocument: "after" },
    );
    if (next !== null) {
      await tellReach(context, noun, current, next);
      return true;
    }
    await context.room.take(current.owner, 0, -grows);
  }
  return false;
}

/** The acl and the locks of a part that those who lack it may use. */
function accessWith(record: ObjectRecord, { lacking }: Part): Pick<ObjectRecord, "acl" | "access"> {
  const share = lacking.map((p) => ({ to: nameOf(p), tier: Tier.VIEW })) as never;
  const { acl = record.acl } = sharingAfter(record, { share, unshare: [], unknown: [] });
  return { acl, access: accessOf({ ...record, acl }) };
}

function wordsFor({ noun, record }: Part, caller: Caller): string {
  return may(caller, "read", record) ? `the ${noun} ${record.name} (${record._id})` : `the ${noun} ${record._id}`;
}
