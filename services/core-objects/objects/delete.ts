import type { Call } from "../../shared/rpc/call.js";
import type { Context } from "../context.js";
import { ATTEMPTS, contended, unchanged, writable } from "./gate.js";
import { idIn } from "./get.js";
import type { DeleteRequest, DeleteResponse } from "./messages.js";
import type { Model } from "./model.js";
import { checkUnused } from "./references.js";

/** Deletes an object that nothing refers to. */
export function deleteObject(model: Model) {
  const { noun } = model;
  return async (context: Context, request: DeleteRequest, { caller }: Call): Promise<DeleteResponse> => {
    const id = idIn(request, model);
    for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
      const current = await writable(context, noun, { id, etag: request.etag, action: "delete" }, caller);
      await checkUnused(context, model, id, caller);
      const { deletedCount } = await context.collection(noun).deleteOne(unchanged(current, "delete", caller));
      if (deletedCount === 1) return { id };
    }
    throw contended(noun);
  };
}
