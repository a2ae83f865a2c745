import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListApiKeysRequest, ListApiKeysResponseSchema } from "#proto/auth/v1/api_key_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { ownerOf } from "../key-owner.js";
import { pageOf } from "../page.js";
import type { Parts } from "../parts.js";
import { apiKeyOf } from "../records.js";

export async function listApiKeys(
  parts: Parts,
  request: ListApiKeysRequest,
  call: Call,
): Promise<MessageInitShape<typeof ListApiKeysResponseSchema>> {
  const owner = await ownerOf(parts, request, call);
  const filter = { userId: owner._id, ...(!request.includeRevoked && { revokedAt: null }) };
  const page = await pageOf(parts.records.keys, filter, request, { field: "serial", direction: -1 });
  return {
    keys: page.items.map((key) => apiKeyOf(key, owner)),
    nextPageToken: page.nextPageToken,
    totalSize: page.totalSize,
  };
}
