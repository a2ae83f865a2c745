import { v7 as uuid } from "uuid";
import type { Call, Caller } from "../../shared/rpc/call.js";
import { aborted, permissionDenied } from "../../shared/rpc/errors.js";
import { isDuplicateKey } from "../../shared/store/store.js";
import type { Context } from "../context.js";
import { accessOf } from "../policy.js";
import type { ObjectRecord } from "../record.js";
import { bytesOf, takenBy } from "../room.js";
import { aclOf, checkShareable } from "../sharing.js";
import { checkGiven } from "./check-given.js";
import { newEtag } from "./gate.js";
import { listAfter } from "./list-after.js";
import type { CreateRequest } from "./messages.js";
import type { Model } from "./model.js";
import { camelOf } from "./names.js";
import { checkShareableParts, shareParts, shownParts, unsharedParts } from "./parts.js";
import { tellReach } from "./reach.js";
import { checkReferences, recheckReferences } from "./references.js";
import { checkedCreation } from "./run-gate.js";
import { sealedWith } from "./secrets.js";
import { oneViewOf } from "./view.js";
import { type Writer, writerFor } from "./writer.js";

/**
 * Creates an object of the caller's own, or a company-managed one. Repeating a
 * creation with its request_id gives the object that it made.
 *
 * @param contentOf the fields that the kind adds, from its request.
 */
export function createObject<Request extends CreateRequest>(
  model: Model,
  contentOf: (request: Request, writer: Writer) => object | Promise<object>,
) {
  const { noun } = model;
  const member = camelOf(noun);
  return async (context: Context, asked: Request, call: Call): Promise<object> => {
    const { caller } = call;
    checkGiven(asked);
    const request = checkedCreation(noun, asked, caller);
    const made = await madeBefore(context, noun, request, caller);
    if (made !== null) return { [member]: await oneViewOf(context, model, made, call) };
    const id = uuid();
    const content = await contentOf(request, writerFor(context, model, id, call));
    await checkReferences(context, model, { before: {}, after: content }, caller);
    const acl = aclOf(await context.principals.of(request.sharing));
    if (request.companyManaged && !caller.admin)
      throw permissionDenied(`only administrators can create company-managed ${noun}s: omit company_managed`);
    const origin = request.companyManaged ? "company" : "user";
    if (acl.length > 0) checkShareable(origin);
    const ownership = { origin, owner: ownerIn(request, caller), acl } as const;
    const lacking = await unsharedParts(context, noun, { ...content, ...ownership } as unknown as ObjectRecord);
    if (request.shareParts) checkShareableParts(lacking, caller);
    const now = new Date();
    const governed: ObjectRecord = {
      ...content,
      _id: id,
      name: request.name,
      description: request.description,
      labels: listAfter([], request.labels),
      enabled: request.enabled ?? true,
      ...ownership,
      access: accessOf(ownership),
      etag: newEtag(),
      request: request.requestId === "" ? id : requestOf(request, caller),
      created_at: now,
      updated_at: now,
    };
    const sealed: ObjectRecord = { ...governed, ...sealedWith(model, context.seal, governed) };
    const record: ObjectRecord = { ...sealed, taken: bytesOf(sealed) };
    const there = await inserted(context, noun, record);
    const undo = async (): Promise<void> => {
      const { deletedCount } = await context.collection(noun).deleteOne({ _id: id });
      await context.room.take(record.owner, -deletedCount, -deletedCount * takenBy(record));
    };
    if (there === record) {
      try {
        await recheckReferences(context, model, { before: {}, after: content }, caller, undo);
      } finally {
        await tellReach(context, noun, undefined, record);
      }
    }
    const left = request.shareParts && there === record ? await shareParts(context, lacking, caller) : lacking;
    const unshared = left.length > 0 && { unsharedParts: shownParts(left, caller) };
    return { [member]: await oneViewOf(context, model, there, call), ...unshared };
  };
}

/**
 * What the same creation made before, if it has a request_id: what has changed
 * since, of the caller's rights or of what it refers to, is not asked again.
 */
async function madeBefore(
  context: Context,
  noun: string,
  request: CreateRequest,
  caller: Caller,
): Promise<ObjectRecord | null> {
  if (request.requestId === "") return null;
  return context.collection(noun).findOne({ owner: ownerIn(request, caller), request: requestOf(request, caller) });
}

function ownerIn({ companyManaged }: CreateRequest, { id }: Caller): string {
  return companyManaged ? "" : id;
}

function requestOf({ requestId }: CreateRequest, { id }: Caller): string {
  return `${id}:${requestId}`;
}

/** The record, or the one that the same creation made before. */
async function inserted(context: Context, noun: string, record: ObjectRecord): Promise<ObjectRecord> {
  const objects = context.collection(noun);
  const bytes = takenBy(record);
  const earlierOf = () => objects.findOne({ owner: record.owner, request: record.request });
  try {
    await context.room.take(record.owner, 1, bytes);
  } catch (error) {
    // The last room may be what this very creation took, sent twice.
    const earlier = await earlierOf();
    if (earlier === null) throw error;
    return earlier;
  }
  try {
    await objects.insertOne(record);
    return record;
  } catch (error) {
    await context.room.take(record.owner, -1, -bytes);
    if (!isDuplicateKey(error)) throw error;
    const earlier = await earlierOf();
    if (earlier === null)
      throw aborted(`the ${noun} that this request_id created was deleted during the call: repeat the call`);
    return earlier;
  }
}
