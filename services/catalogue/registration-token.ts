import { createHash, timingSafeEqual } from "node:crypto";
import type { Context } from "./context.js";

/** What is kept of a registration token; its 256 random bits need no slow hash. */
export const digestOf = (token: string): string => createHash("sha256").update(token).digest("base64url");

/** Whether platforms may register with this token: the configured one, or one made here. */
export async function isRegistrationToken({ store, registrationToken }: Context, token: string): Promise<boolean> {
  const digest = digestOf(token);
  if (registrationToken !== undefined) {
    const wanted = Buffer.from(digestOf(registrationToken));
    if (timingSafeEqual(Buffer.from(digest), wanted)) return true;
  }
  return (await store.registrationTokens.findOne({ digest })) !== null;
}
