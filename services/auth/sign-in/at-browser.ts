import { verify } from "@node-rs/argon2";
import { normalEmail } from "../emails.js";
import type { BrowserSignIn } from "../oauth/browser-sign-in.js";
import type { AuthStore, UserRecord } from "../store.js";
import type { WorkLimit } from "../work-limit.js";
import type { Sessions } from "./sessions.js";

export function createBrowserSignIn(
  store: AuthStore,
  sessions: Sessions,
  hashing: WorkLimit,
  secure: boolean,
): BrowserSignIn {
  const name = secure ? "__Host-sallyport" : "sallyport";
  const valueIn = (cookies = ""): string | undefined =>
    cookies
      .split(/;\s*/)
      .find((one) => one.startsWith(`${name}=`))
      ?.slice(name.length + 1);
  return {
    others: [],
    async of({ cookies }) {
      const value = valueIn(cookies);
      return value === undefined ? undefined : (await sessions.of(value))?.user;
    },
    mustChangePassword: () => false,
    async changePassword() {
      return { problem: "not yet" };
    },
    async withPassword({ address, userAgent }, email, password) {
      let user: UserRecord | null = null;
      try {
        user = await store.users.findOne({ login: normalEmail(email) });
      } catch {
        // Not an address: nobody's.
      }
      const hash = user?.password_hash;
      const good = hash != null && (await hashing.run(() => verify(hash, password.normalize("NFKC"))));
      if (!good || user === null || user.disabled) return { problem: "The e-mail address or the password is wrong." };
      const value = await sessions.begin(user, { address, userAgent, amr: "pwd" });
      return { user, setCookies: [`${name}=${value}; Path=/; HttpOnly; SameSite=Lax${secure ? "; Secure" : ""}`] };
    },
  };
}
