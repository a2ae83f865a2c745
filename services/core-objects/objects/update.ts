import { type DescMessage, isFieldSet } from "@bufbuild/protobuf";
import type { Call } from "../../shared/rpc/call.js";
import { invalidArgument } from "../../shared/rpc/errors.js";
import { isSame } from "../../shared/same.js";
import type { Context } from "../context.js";
import type { ObjectRecord } from "../record.js";
import { bytesOf, takenBy } from "../room.js";
import { sharingAfter, sharingIn } from "../sharing.js";
import { checkChanges } from "./check-changes.js";
import { checkGiven } from "./check-given.js";
import { checkHeld } from "./check-held.js";
import { ATTEMPTS, contended, newEtag, unchanged, writable } from "./gate.js";
import { idIn } from "./get.js";
import { given } from "./given.js";
import { listAfter } from "./list-after.js";
import type { UpdateRequest } from "./messages.js";
import type { Model } from "./model.js";
import { camelOf } from "./names.js";
import { checkShareableParts, shareParts, shownParts, unsharedParts } from "./parts.js";
import { tellReach } from "./reach.js";
import { checkReferences, recheckReferences } from "./references.js";
import { checkRunChanges } from "./run-gate.js";
import { sealedWith } from "./secrets.js";
import { idsIn, oneViewOf, outerOf } from "./view.js";
import { type Writer, writerFor } from "./writer.js";

/**
 * Changes what is given of an object; sharing needs more than the rest does.
 * Where somebody else changes it in between, what is given is applied to what
 * they made of it, unless the caller gave an etag.
 *
 * @param input the request.
 * @param changesOf the fields that change of those that the kind adds, and of its name.
 */
export function updateObject<Request extends UpdateRequest>(
  model: Model,
  input: DescMessage,
  changesOf: (request: Request, current: ObjectRecord, writer: Writer) => object | Promise<object>,
) {
  const { noun } = model;
  const member = camelOf(noun);
  const changing = input.fields.filter(({ localName }) => localName !== `${member}Id` && localName !== "etag");

  const after = async (request: Request, current: ObjectRecord, writer: Writer): Promise<object> => {
    checkHeld(noun, "label", request.removeLabels, current.labels);
    const common = given({ description: request.description, enabled: request.enabled });
    const labels = listAfter(current.labels, request.addLabels, request.removeLabels);
    return Object.assign(common, { labels }, await changesOf(request, current, writer));
  };

  return async (context: Context, request: Request, call: Call): Promise<object> => {
    checkChanges(changing.some((field) => isFieldSet(request as never, field)));
    checkGiven(request);
    const { caller } = call;
    const action = request.share.length > 0 || request.unshare.length > 0 ? "share" : "modify";
    const which = { id: idIn(request, member), etag: request.etag, action } as const;
    const sharing = await sharingIn(request, context.principals);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const current = await writable(context, noun, which, caller);
      await checkRunChanges(context, noun, current, caller);
      const writer = writerFor(context, model, current._id, call);
      const said = Object.assign(await after(request, current, writer), sharingAfter(current, sharing));
      if (model.reseal !== undefined)
        Object.assign(said, sealedWith(model, context.seal, { ...current, ...said }, current.sealed_with));
      const changes = differing(current, said);
      checkLimits(model, changes);
      const next: ObjectRecord = { ...current, ...changes, etag: newEtag(), updated_at: new Date() };
      // Elsewhere it would give away what only others may use.
      const referring = model.leadsElsewhere?.(current, next)
        ? { before: {}, after: next }
        : { before: current, after: changes };
      await checkReferences(context, model, referring, caller);
      const lacking = concernsParts(model, request, changes) ? await unsharedParts(context, noun, next) : [];
      if (request.shareParts) checkShareableParts(lacking, caller);
      const taken = bytesOf(next);
      const grows = taken - takenBy(current);
      await context.room.take(current.owner, 0, grows);
      const written = await context
        .collection(noun)
        .findOneAndUpdate(
          unchanged(current, action, caller),
          { $set: { ...changes, etag: next.etag, updated_at: next.updated_at, taken }, $unset: { deleting: "" } },
          { returnDocument: "after" },
        );
      if (written === null) {
        await context.room.take(current.owner, 0, -grows);
        continue;
      }
      const undo = () => putBack(context, model, { current, next: written, changes, grows });
      try {
        await recheckReferences(context, model, referring, caller, undo);
      } finally {
        await tellReach(context, noun, current, written);
      }
      const left = request.shareParts ? await shareParts(context, lacking, caller) : lacking;
      const unshared = left.length > 0 && { unsharedParts: shownParts(left, caller) };
      return { [member]: await oneViewOf(context, model, written, call), ...unshared };
    }
    throw contended(noun);
  };
}

/** The fields of a change whose values differ from those of the object. */
function differing(current: ObjectRecord, said: object): Partial<ObjectRecord> {
  const was = current as unknown as Readonly<Record<string, unknown>>;
  const now = said as Readonly<Record<string, unknown>>;
  const changes: Record<string, unknown> = {};
  for (const field in now) if (!isSame(was[field], now[field])) changes[field] = now[field];
  return changes;
}

/** Whether a change has others use parts: it shares the object, or has it refer to something else. */
function concernsParts(
  { references }: Model,
  { share, shareParts: isAsked = false }: UpdateRequest,
  changes: object,
): boolean {
  return isAsked || share.length > 0 || Object.keys(references).some((field) => outerOf(field) in changes);
}

/** Takes a change back; what others changed since stays, without what was newly referred to. */
async function putBack(
  context: Context,
  { noun, references }: Model,
  {
    current,
    next,
    changes,
    grows,
  }: { readonly current: ObjectRecord; readonly next: ObjectRecord; readonly changes: object; readonly grows: number },
): Promise<void> {
  const objects = context.collection(noun);
  const was = current as unknown as Readonly<Record<string, unknown>>;
  const before = Object.fromEntries(Object.keys(changes).map((field) => [field, was[field]]));
  const { matchedCount } = await objects.updateOne(
    { _id: next._id, etag: next.etag },
    { $set: { ...before, taken: takenBy(current), etag: newEtag(), updated_at: new Date() } },
  );
  if (matchedCount === 1) return context.room.take(current.owner, 0, -grows);
  const added = Object.keys(references).map((field) => {
    const there = new Set(idsIn(current, field));
    const ids = { $in: idsIn(changes, field).filter((id) => !there.has(id)) };
    const [outer, inner] = field.split(".", 2);
    return [outer, inner === undefined ? ids : { [inner]: ids }];
  });
  await objects.updateOne({ _id: next._id }, { $pull: Object.fromEntries(added), $set: { etag: newEtag() } });
}

function checkLimits({ noun, limits }: Model, changes: object): void {
  for (const [field, items] of Object.entries(changes)) {
    const most = limits[field];
    if (most === undefined || items.length <= most) continue;
    const words = field.replaceAll("_", " ");
    throw invalidArgument(`this ${noun} can have at most ${most} ${words}: remove some in the same call`);
  }
}
