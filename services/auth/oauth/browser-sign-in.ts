import type { UserRecord } from "../store.js";

/** What is known of whoever sits at a browser. */
export interface Browser {
  /** The Cookie header; undefined for none. */
  readonly cookies: string | undefined;
  readonly address: string;
  readonly userAgent: string;
}

/** Somebody signed in; the browser is given these Set-Cookie headers. */
export interface SignedIn {
  readonly user: UserRecord;
  readonly setCookies: readonly string[];
}

/** Nobody did. */
export interface NotSignedIn {
  /** Why, as a sentence for the person. */
  readonly problem: string;
}

/** Another way to sign in than by password. */
export interface OtherWay {
  readonly label: string;
  /**
   * The address that begins it.
   *
   * @param returnTo a path below the authorization server's, where the browser comes back to.
   * @param again whether the person must say again who they are.
   */
  hrefFor(returnTo: string, again: boolean): string;
}

/** Somebody who is signed in at a browser. */
export interface Present {
  readonly user: UserRecord;
  /** The page for which another provider asked who the person is, as a path. */
  readonly page: string | undefined;
  /** The person must choose a new password before anything else. */
  readonly mustChangePassword: boolean;
}

/** How people sign in at the pages of the authorization server; its sessions are those of the console. */
export interface BrowserSignIn {
  /** Who is signed in at a browser; undefined for nobody. */
  of(browser: Browser): Promise<Present | undefined>;
  withPassword(browser: Browser, email: string, password: string): Promise<SignedIn | NotSignedIn>;
  /**
   * Signs in somebody whom another provider has vouched for.
   *
   * @param page the path of the page for which it asked who the person is; undefined if it may have known.
   */
  fromOutside(browser: Browser, user: UserRecord, page: string | undefined): Promise<SignedIn>;
  changePassword(browser: Browser, user: UserRecord, current: string, next: string): Promise<SignedIn | NotSignedIn>;
  /** Ends the session of a browser. @returns Set-Cookie headers. */
  signOut(browser: Browser): Promise<readonly string[]>;
  readonly others: readonly OtherWay[];
}
