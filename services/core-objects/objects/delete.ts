import type { Call } from "../../shared/rpc/call.js";
import type { Context } from "../context.js";
import { takenBy } from "../room.js";
import { ATTEMPTS, contended, newEtag, unchanged, writable } from "./gate.js";
import { idIn } from "./get.js";
import type { DeleteRequest, DeleteResponse } from "./messages.js";
import type { Model } from "./model.js";
import { tellReach } from "./reach.js";
import { checkUnused } from "./references.js";
import { checkRunDeletes } from "./run-gate.js";

/**
 * Deletes an object that nothing refers to. It is marked before one looks for
 * what refers to it: what comes to refer to it after that look sees the mark.
 *
 * @param after is done once it is gone.
 */
export function deleteObject(model: Model, after?: (context: Context, id: string) => Promise<void>) {
  const { noun } = model;
  return async (context: Context, request: DeleteRequest, { caller }: Call): Promise<DeleteResponse> => {
    const id = idIn(request, model);
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
        await checkUnused(context, model, id, caller);
      } catch (error) {
        await objects.updateOne({ _id: id, deleting: mark }, { $unset: { deleting: "" } });
        throw error;
      }
      const { deletedCount } = await objects.deleteOne({ ...unchanged(current, "delete", caller), deleting: mark });
      if (deletedCount === 0) continue;
      await tellReach(context, noun, current, undefined);
      await context.room.take(current.owner, -1, -takenBy(current));
      await after?.(context, id);
      return { id };
    }
    throw contended(noun);
  };
}
