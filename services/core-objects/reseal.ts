import type { Log } from "../shared/process/log.js";
import { SealError } from "../shared/secrets/seal.js";
import type { Context, Kind } from "./context.js";
import { placeOf } from "./objects/secrets.js";

/**
 * Seals again what an older key sealed, so that the older key can go. What does
 * not open stays as it is, and the log says where.
 *
 * @returns how many objects were sealed again.
 */
export async function resealAll(context: Context, log: Log): Promise<number> {
  let resealed = 0;
  for (const kind of context.kinds) {
    if (kind.reseal !== undefined) resealed += await resealKind(context, kind, kind.reseal, log);
  }
  return resealed;
}

async function resealKind(
  { collection, seal }: Context,
  kind: Kind,
  reseal: NonNullable<Kind["reseal"]>,
  log: Log,
): Promise<number> {
  const objects = collection(kind.noun);
  let resealed = 0;
  for (const others of [{ $gt: "", $lt: seal.key }, { $gt: seal.key }]) {
    for await (const object of objects.find({ sealed_with: others })) {
      const again = (sealed: string, field: string): string => seal.rewrap(sealed, placeOf(kind, object._id, field));
      try {
        const changes = { ...reseal(object, again), sealed_with: seal.key };
        const { matchedCount } = await objects.updateOne({ _id: object._id, etag: object.etag }, { $set: changes });
        resealed += matchedCount;
      } catch (error) {
        if (!(error instanceof SealError)) throw error;
        log.error({ object: object._id, reason: error.message }, "a secret of an object cannot be decrypted");
      }
    }
  }
  return resealed;
}
