import { randomBytes } from "node:crypto";
import { v7 as uuidv7 } from "uuid";
import type { CreateRegistrationTokenRequest } from "#proto/catalogue/v1/setting_service_pb.js";
import { isPlatformServer, PLATFORM_SERVERS } from "../../shared/platforms.js";
import { invalidArgument } from "../../shared/rpc/errors.js";
import type { Context } from "../context.js";
import { digestOf } from "../registration-token.js";

/** Makes a registration token for one platform of a server; only its digest is kept. */
export async function createRegistrationToken(
  { store }: Context,
  { name, server }: CreateRegistrationTokenRequest,
): Promise<{ id: string; token: string }> {
  if (!isPlatformServer(server)) throw invalidArgument(`server: must be one of ${PLATFORM_SERVERS.join(", ")}`);
  const token = `reg_${randomBytes(32).toString("base64url")}`;
  const id = uuidv7();
  await store.registrationTokens.insertOne({ _id: id, name, server, digest: digestOf(token), created_at: new Date() });
  return { id, token };
}
