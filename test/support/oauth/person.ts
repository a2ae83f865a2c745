import { SessionService } from "#proto/auth/v1/session_service_pb.js";
import { connectClient } from "../../../clients/node/connect.js";
import type { Account, Program } from "../program.js";
import { Browser } from "./browser.js";

/** What people of tests choose as their own password. */
export const OWN_PASSWORD = "a password of their own, 7 words";

/** Gives a person of the first start a password of their own, so that none has to be chosen at the first sign-in. */
export async function settleIn(
  { baseUrl }: Pick<Program, "baseUrl">,
  { api_key: apiKey, password }: Account,
): Promise<void> {
  const sessions = connectClient(SessionService, { baseUrl: `${baseUrl}/rpc`, apiKey, httpVersion: "1.1" });
  await sessions.changePassword({ currentPassword: password, newPassword: OWN_PASSWORD });
}

/** A browser at which a person sits who has settled in, and who allows what is asked. */
export function personAt({ email }: Account, ask: typeof fetch = fetch): Browser {
  return new Browser({ email, password: OWN_PASSWORD, answer: "allow", write: "yes" }, ask);
}
