import { ConnectError } from "@connectrpc/connect";
import { AuditKind } from "#proto/auth/v1/audit_service_pb.js";
import type { Context } from "../context.js";
import { normalEmail } from "../emails.js";
import { emailOf } from "../identity.js";
import type { Browser, BrowserSignIn, NotSignedIn, OtherWay, Present, SignedIn } from "../oauth/browser-sign-in.js";
import { checkPassword } from "../passwords.js";
import type { SessionRecord, UserRecord } from "../store.js";
import { changePassword } from "./change-password.js";
import type { SignInCookies } from "./cookies.js";
import { BY_PASSWORD, BY_PROVIDER, mustChangePassword } from "./sessions.js";
import type { Throttle } from "./throttle.js";

/** What signing in at a browser needs. */
export interface BrowserSignInOptions {
  readonly context: Pick<Context, "store" | "hashing" | "hub" | "sessions" | "auditor">;
  readonly cookies: SignInCookies;
  readonly throttle: Throttle;
  /** Other ways to sign in, in the order in which they are shown. */
  readonly others: readonly OtherWay[];
}

type How = Pick<SessionRecord, "amr" | "page">;

const WRONG = "The e-mail address or the password is wrong.";

/** Signs people in by e-mail address and password, and takes those whom other providers vouch for. */
export function createBrowserSignIn(options: BrowserSignInOptions): BrowserSignIn {
  return new SignInAtBrowser(options);
}

class SignInAtBrowser implements BrowserSignIn {
  readonly others: readonly OtherWay[];

  constructor(private readonly options: BrowserSignInOptions) {
    this.others = options.others;
  }

  async of({ cookies }: Browser): Promise<Present | undefined> {
    const value = this.options.cookies.sessionIn(cookies);
    const found = value === undefined ? undefined : await this.options.context.sessions.of(value);
    if (found === undefined) return undefined;
    const { user, session } = found;
    return { user, page: session.page, mustChangePassword: mustChangePassword(found) };
  }

  async signOut({ cookies }: Browser): Promise<readonly string[]> {
    const value = this.options.cookies.sessionIn(cookies);
    if (value !== undefined) await this.options.context.sessions.end(value);
    return [this.options.cookies.endSession()];
  }

  fromOutside(browser: Browser, user: UserRecord, page: string | undefined): Promise<SignedIn> {
    return this.begin(browser, user, { amr: BY_PROVIDER, ...(page !== undefined && { page }) });
  }

  async withPassword(browser: Browser, entered: string, password: string): Promise<SignedIn | NotSignedIn> {
    const { context, throttle, cookies } = this.options;
    const user = await this.userOf(entered);
    const isKnownBrowser = user !== null && cookies.knows(browser.cookies, user._id);
    const login = user?.login ?? entered.trim().toLowerCase().slice(0, MAX_LOGIN);
    const attempt = { login, address: networkOf(browser.address), isKnownBrowser };
    const waitMs = await throttle.waitOf(attempt);
    if (waitMs > 0) {
      this.note(user, AuditKind.REFUSAL, "throttled");
      return { problem: `Too many sign-ins have failed: try again in ${secondsIn(waitMs)}.` };
    }
    const { isRight, rehashed } = await checkPassword(password, user?.password_hash, context.hashing);
    if (user === null || !isRight || user.disabled) {
      await throttle.failed(attempt);
      this.note(user, AuditKind.REFUSAL, isRight ? "disabled" : "wrong_password");
      return { problem: WRONG };
    }
    await throttle.succeeded(attempt);
    if (rehashed !== undefined) await this.keepHash(user, rehashed);
    return this.begin(browser, user, { amr: BY_PASSWORD });
  }

  async changePassword(
    browser: Browser,
    user: UserRecord,
    current: string,
    next: string,
  ): Promise<SignedIn | NotSignedIn> {
    const { context, throttle } = this.options;
    // Somebody at another person's browser guesses as slowly as at the sign-in page.
    const attempt = { login: user.login, address: `user ${user._id}`, isKnownBrowser: false };
    const waitMs = await throttle.waitOf(attempt);
    if (waitMs > 0) return { problem: `Too many passwords were wrong: try again in ${secondsIn(waitMs)}.` };
    try {
      const changed = await changePassword(context, user, { current, next });
      await throttle.succeeded(attempt);
      this.note(user, AuditKind.ADMINISTRATION, "password_changed");
      return await this.begin(browser, changed, { amr: BY_PASSWORD });
    } catch (error) {
      if (!(error instanceof ConnectError)) throw error;
      await throttle.failed(attempt);
      const said = error.rawMessage;
      return { problem: `${said.slice(0, 1).toUpperCase()}${said.slice(1)}.` };
    }
  }

  private async begin({ address, userAgent }: Browser, user: UserRecord, how: How): Promise<SignedIn> {
    const { context, cookies } = this.options;
    const value = await context.sessions.begin(user, { address, userAgent, ...how });
    this.note(user, AuditKind.SIGN_IN, "ok");
    return { user, setCookies: [cookies.setSession(value), cookies.setKnown(user._id)] };
  }

  private async userOf(entered: string): Promise<UserRecord | null> {
    let login: string;
    try {
      login = normalEmail(entered);
    } catch {
      return null;
    }
    return this.options.context.store.users.findOne({ login });
  }

  private async keepHash({ _id, password_hash }: UserRecord, rehashed: string): Promise<void> {
    await this.options.context.store.users.updateOne({ _id, password_hash }, { $set: { password_hash: rehashed } });
  }

  private note(user: UserRecord | null, kind: AuditKind, outcome: string): void {
    this.options.context.auditor?.note({
      kind,
      userId: user?._id ?? "",
      userEmail: user === null ? "" : emailOf(user),
      keyId: "",
      action: "sign_in",
      target: "",
      outcome,
      count: 1,
    });
  }
}

const MAX_LOGIN = 254;

/** An IPv6 address by its /64, which is one customer's. */
function networkOf(address: string): string {
  return address.includes(":") ? address.split(":").slice(0, 4).join(":") : address;
}

function secondsIn(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  return seconds === 1 ? "a second" : `${seconds} seconds`;
}
