import { randomBytes } from "node:crypto";
import { v7 as uuidv7 } from "uuid";
import type { CreateRegistrationTokenRequest } from "#proto/catalogue/v1/setting_service_pb.js";
import type { Context } from "../context.js";
import { digestOf } from "../registration-token.js";

/** Makes a registration token; only its digest is kept. */
export async function createRegistrationToken(
  { store }: Context,
  { name }: CreateRegistrationTokenRequest,
): Promise<{ id: string; token: string }> {
  const token = `reg_${randomBytes(32).toString("base64url")}`;
  const id = uuidv7();
  await store.registrationTokens.insertOne({ _id: id, name, digest: digestOf(token), created_at: new Date() });
  return { id, token };
}
