import type { OutgoingPolicy } from "../../shared/outgoing/policy.js";
import { PUBLIC_ONLY } from "../../shared/outgoing/policy.js";
import type { Log } from "../../shared/process/log.js";
import type { Seal } from "../../shared/secrets/seal.js";
import type { Context } from "../context.js";
import { createFederation, type Federation } from "../federation/federation.js";
import type { ProviderSetting } from "../federation/setting.js";
import type { BrowserSignIn } from "../oauth/browser-sign-in.js";
import { outsideHref } from "../oauth/outside-sign-in.js";
import { keyFor } from "../oauth/page-secret.js";
import type { Site } from "../oauth/pages/page.js";
import { createBrowserSignIn } from "./at-browser.js";
import { createSignInCookies } from "./cookies.js";

/** How people sign in at browsers, and where outside. */
export interface PeoplesSignIn {
  readonly signIn: BrowserSignIn;
  readonly federation: Federation;
}

/** What it is put together of. */
export interface PeoplesSignInOptions {
  readonly context: Context;
  readonly site: Site;
  /** The secret of the installation's pages. */
  readonly secret: Buffer;
  /** Outside providers at which people sign in. */
  readonly providers?: readonly ProviderSetting[] | undefined;
  readonly seal: Seal;
  /** Which addresses are called. */
  readonly outgoing?: OutgoingPolicy | undefined;
  readonly log: Log;
}

/** Puts the sign-in of people together: one for the console and the authorization server. */
export function openSignIn(options: PeoplesSignInOptions): PeoplesSignIn {
  const { context, site, secret, providers = [], seal, outgoing = PUBLIC_ONLY, log } = options;
  const federation = createFederation({ context, providers, baseUrl: context.issuer, seal, outgoing, log });
  const others = federation.providers().map(({ id, label }) => ({
    label: `Sign in with ${label}`,
    hrefFor: (returnTo: string, again: boolean) => outsideHref(site, id, returnTo, again),
  }));
  const isSecure = context.issuer.startsWith("https:");
  const cookies = createSignInCookies(isSecure, keyFor(secret, "known browsers"));
  return { federation, signIn: createBrowserSignIn({ context, cookies, throttle: context.throttle, others }) };
}
