import { createHash, randomBytes } from "node:crypto";
import { isSameText } from "../../shared/credentials/same-text.js";
import type { Seal } from "../../shared/secrets/seal.js";
import { isDuplicateKey } from "../../shared/store/store.js";
import type { AuthStore } from "../store.js";
import type { Checks } from "./provider.js";

/** A sign-in that a browser began and has not finished. */
export interface PendingSignIn extends Checks {
  readonly providerId: string;
  /** A path below the authorization server's. */
  readonly returnTo: string;
  /** The provider is asked to ask who the person is, even if it knows. */
  readonly again: boolean;
  /** Milliseconds since 1970. */
  readonly until: number;
}

/** What a browser keeps of a sign-in between its begin and its end: a cookie that only this deployment reads. */
export interface PendingSignIns {
  begin(
    providerId: string,
    to: Pick<PendingSignIn, "returnTo" | "again">,
  ): { readonly pending: PendingSignIn; readonly setCookie: string };
  /** What a Cookie header holds; undefined for nothing of ours. It may be over. */
  in(cookies: string | undefined): PendingSignIn | undefined;
  /** Whether a callback's state is that of the sign-in. */
  matches(pending: PendingSignIn, state: string | null): boolean;
  /** @returns whether nobody has used it before, at any process. */
  use(pending: PendingSignIn): Promise<boolean>;
  /** The Set-Cookie header that ends it. */
  end(): string;
}

/** How long a person may take at the provider, in milliseconds. */
export const PENDING_MS = 600_000;
/** Longest cookie that is opened, in characters. */
const MAX_COOKIE = 4_096;

/** What pending sign-ins are kept with. */
export interface PendingOptions {
  readonly seal: Seal;
  /** The public base URL: another deployment with the same seal reads nothing of it. */
  readonly baseUrl: string;
  readonly store: Pick<AuthStore, "usedAssertions">;
}

/** Keeps sign-ins in a sealed cookie. Over HTTPS its name has the prefix `__Host-`, so that no other host of the domain can set it. */
export function createPendingSignIns({ seal, baseUrl, store }: PendingOptions): PendingSignIns {
  const isSecure = baseUrl.startsWith("https:");
  const name = `${isSecure ? "__Host-" : ""}sallyport-federation`;
  // Lax: the provider's site sends the browser back.
  const attributes = `Path=/; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`;
  const place = `federation/${baseUrl}`;

  return {
    begin(providerId, { returnTo, again }) {
      const [state, nonce, verifier] = [random(), random(), random()];
      const pending = { providerId, returnTo, again, state, nonce, verifier, until: Date.now() + PENDING_MS };
      const value = seal.seal(JSON.stringify(pending), place);
      return { pending, setCookie: `${name}=${value}; Max-Age=${PENDING_MS / 1_000}; ${attributes}` };
    },
    in(cookies) {
      const found = cookies?.split(/;\s*/).find((one) => one.startsWith(`${name}=`));
      if (found === undefined || found.length > MAX_COOKIE) return undefined;
      try {
        return JSON.parse(seal.open(found.slice(name.length + 1), place)) as PendingSignIn;
      } catch {
        return undefined;
      }
    },
    matches(pending, state) {
      return state !== null && isSameText(state, pending.state);
    },
    async use({ state, until }) {
      const _id = createHash("sha256").update("federation\0").update(state).digest("base64url");
      try {
        await store.usedAssertions.insertOne({ _id, expires_at: new Date(until) });
        return true;
      } catch (error) {
        if (isDuplicateKey(error)) return false;
        throw error;
      }
    },
    end: () => `${name}=; Max-Age=0; ${attributes}`,
  };
}

function random(): string {
  return randomBytes(32).toString("base64url");
}
