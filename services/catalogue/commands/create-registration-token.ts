import { randomBytes } from "node:crypto";
import { type Timestamp, timestampFromDate } from "@bufbuild/protobuf/wkt";
import { v7 as uuidv7 } from "uuid";
import type { CreateRegistrationTokenRequest } from "#proto/catalogue/v1/setting_service_pb.js";
import { isPlatformServer, PLATFORM_SERVERS } from "../../shared/platforms.js";
import { failedPrecondition, invalidArgument, notFound } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { digestOf, EXPIRE_DAYS, expiryAfter } from "../registration-token.js";

/** Makes a registration token for one platform of a server; only its digest is kept. */
export async function createRegistrationToken(
  context: Context,
  { name, server, platformId, expireDays = EXPIRE_DAYS }: CreateRegistrationTokenRequest,
): Promise<{ id: string; token: string; expiresAt: Timestamp }> {
  if (!isPlatformServer(server)) throw invalidArgument(`server: must be one of ${PLATFORM_SERVERS.join(", ")}`);
  if (platformId !== undefined) await checkPlatform(context, server, platformId);
  const token = `reg_${randomBytes(32).toString("base64url")}`;
  const id = uuidv7();
  const expiresAt = expiryAfter(expireDays);
  await context.store.registrationTokens.insertOne({
    _id: id,
    name,
    server,
    digest: digestOf(token),
    created_at: new Date(),
    expires_at: expiresAt,
    ...(platformId !== undefined && { successor_of: platformId }),
  });
  return { id, token, expiresAt: timestampFromDate(expiresAt) };
}

async function checkPlatform({ store }: Context, server: string, id: string): Promise<void> {
  const held = await store.platforms.findOne({ _id: id, server });
  if (held === null)
    throw notFound(`no ${server} platform ${id} is registered: \`platforms list\` shows the platforms`);
  if (held.last_seen_at === undefined)
    throw failedPrecondition(`an administrator added the platform ${id}, so it does not register with a token`);
}
