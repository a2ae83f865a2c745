import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { ListRegistrationTokensRequest, RegistrationTokenSchema } from "#proto/catalogue/v1/setting_service_pb.js";
import type { Context } from "../context.js";
import { expiryOf, isConfigured } from "../registration-token.js";
import type { RegistrationTokenDoc } from "../store.js";

const DEFAULT_SIZE = 25;

/** Lists the registration tokens, newest first. */
export async function listRegistrationTokens(
  { store }: Context,
  { pageSize, pageToken }: ListRegistrationTokensRequest,
): Promise<{ tokens: MessageInitShape<typeof RegistrationTokenSchema>[]; nextPageToken: string }> {
  const size = pageSize === 0 ? DEFAULT_SIZE : pageSize;
  const found = await store.registrationTokens
    .find(pageToken === "" ? {} : { _id: { $lt: pageToken } })
    .sort({ _id: -1 })
    .limit(size + 1)
    .toArray();
  const tokens = found.slice(0, size);
  const owners = await store.platforms.find({ token: { $in: tokens.map(({ _id }) => _id) } }).toArray();
  const ownerOf = new Map(owners.map(({ _id, token }) => [token, _id]));
  return {
    tokens: tokens.map((doc) => shown(doc, ownerOf.get(doc._id))),
    nextPageToken: found.length > size ? (tokens.at(-1)?._id ?? "") : "",
  };
}

function shown(doc: RegistrationTokenDoc, platformId = ""): MessageInitShape<typeof RegistrationTokenSchema> {
  const { _id: id, name, server = "", platform, created_at, last_used_at } = doc;
  const expiresAt = expiryOf(doc);
  return {
    id,
    name,
    server,
    platformId,
    platformUrl: platform?.url ?? "",
    createdAt: timestampFromDate(created_at),
    ...(last_used_at && { lastUsedAt: timestampFromDate(last_used_at) }),
    ...(expiresAt && { expiresAt: timestampFromDate(expiresAt) }),
    configured: isConfigured(id),
  };
}
