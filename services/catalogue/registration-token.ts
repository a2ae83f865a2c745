import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import { v7 as uuidv7 } from "uuid";
import type { Context } from "./context.js";

/** 256 random bits need no slow hash. */
const digestOf = (token: string): string => createHash("sha256").update(token).digest("base64url");

/** Whether platforms may register with this token: the configured one, or one made here. */
export async function isRegistrationToken(token: string, { store, registrationToken }: Context): Promise<boolean> {
  const digest = digestOf(token);
  if (registrationToken !== undefined) {
    const wanted = Buffer.from(digestOf(registrationToken));
    if (timingSafeEqual(Buffer.from(digest), wanted)) return true;
  }
  return (await store.registrationTokens.findOne({ digest })) !== null;
}

/** Makes a registration token; only its digest is kept. */
export async function createRegistrationToken(
  name: string,
  { store }: Context,
): Promise<{ id: string; token: string }> {
  const token = `reg_${randomBytes(32).toString("base64url")}`;
  const id = uuidv7();
  await store.registrationTokens.insertOne({ _id: id, name, digest: digestOf(token), createdAt: new Date() });
  return { id, token };
}

/** Takes a registration token back; one that is gone already is no error. */
export async function revokeRegistrationToken(id: string, { store }: Context): Promise<void> {
  await store.registrationTokens.deleteOne({ _id: id });
}
