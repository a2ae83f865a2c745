import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RevokeApiKeyRequest, RevokeApiKeyResponseSchema } from "#proto/auth/v1/api_key_service_pb.js";
import { EventKind } from "#proto/auth/v1/watch_service_pb.js";
import type { Call } from "../../shared/call.js";
import { notFound } from "../../shared/errors.js";
import type { Parts } from "../parts.js";

export async function revokeApiKey(
  { records, hub }: Parts,
  { id }: RevokeApiKeyRequest,
  { caller }: Call,
): Promise<MessageInitShape<typeof RevokeApiKeyResponseSchema>> {
  const mine = caller.scopes.has("admin") ? { _id: id } : { _id: id, userId: caller.id };
  const { matchedCount } = await records.keys.updateOne(
    { ...mine, revokedAt: null },
    { $set: { revokedAt: new Date() } },
  );
  if (matchedCount === 0 && (await records.keys.findOne(mine)) === null) {
    throw notFound(`there is no API key ${JSON.stringify(id)} of yours`);
  }
  // Also where it was revoked before: whoever did that may not have lived to tell the watchers.
  const { acknowledged, expired } = await hub.publish([{ kind: EventKind.KEY, id }]);
  return { acknowledged, expired };
}
