import type { Call } from "../../shared/rpc/call.js";
import type { Context } from "../context.js";
import type { ObjectRecord } from "../record.js";
import { takenBy } from "../room.js";
import { ATTEMPTS, contended, newEtag, unchanged, writable } from "./gate.js";
import { idIn } from "./get.js";
import type { DeleteRequest, DeleteResponse } from "./messages.js";
import type { Model } from "./model.js";
import { camelOf } from "./names.js";
import { tellReach } from "./reach.js";
import { checkUnused } from "./references.js";
import { checkRunDeletes } from "./run-gate.js";

/** What a kind says of the deletion of one. */
export interface Deletion<R extends ObjectRecord> {
  /** The nouns of kinds that may refer to it nevertheless, because `after` deals with them. */
  readonly along?: (request: never) => readonly string[];
  /** What else goes with one that is gone. @returns what the answer says of that. */
  readonly after?: (context: Context, gone: R, call: Call) => Promise<object | undefined>;
}

/**
 * Deletes an object that nothing refers to. It is marked before one looks for
 * what refers to it: what comes to refer to it after that look sees the mark.
 *
 */
export function deleteObject(model: Model, { along, after }: Deletion<ObjectRecord> = {}) {
  const { noun } = model;
  const member = camelOf(noun);
  return async (context: Context, request: DeleteRequest, call: Call): Promise<DeleteResponse> => {
    const { caller } = call;
    const id = idIn(request, member);
    const aside = along?.(request as never) ?? [];
    const objects = context.collection(noun);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const current = await writable(context, noun, { id, etag: request.etag, action: "delete" }, caller);
      await checkRunDeletes(context, noun, current, caller);
      const mark = newEtag();
      const { matchedCount } = await objects.updateOne(unchanged(current, "delete", caller), {
        $set: { deleting: mark },
      });
      if (matchedCount === 0) continue;
      try {
        await checkUnused(context, model, { id, aside }, caller);
      } catch (error) {
        await objects.updateOne({ _id: id, deleting: mark }, { $unset: { deleting: "" } });
        throw error;
      }
      const { deletedCount } = await objects.deleteOne({ ...unchanged(current, "delete", caller), deleting: mark });
      if (deletedCount === 0) continue;
      await tellReach(context, noun, current, undefined);
      await context.room.take(current.owner, -1, -takenBy(current));
      return { id, ...(await after?.(context, current, call)) };
    }
    throw contended(noun);
  };
}
