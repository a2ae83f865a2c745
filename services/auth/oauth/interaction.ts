import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Provider } from "oidc-provider";
import { isSameText } from "../../shared/credentials/same-text.js";
import { parsedUrl } from "../../shared/parsed-url.js";
import type { Context } from "../context.js";
import { emailOf } from "../identity.js";
import type { UserRecord } from "../store.js";
import type { Browser, BrowserSignIn, NotSignedIn, SignedIn } from "./browser-sign-in.js";
import { type AskingClient, makeGrant, wantedOf } from "./consent-grant.js";
import { SESSION_COOKIE } from "./cookies.js";
import { InteractionError } from "./interaction-error.js";
import { GRANT_S } from "./lifetimes.js";
import { noteConnection } from "./noted.js";
import { consentPage } from "./pages/consent.js";
import { type Shown, type Site, sendPage } from "./pages/page.js";
import { newPasswordPage, signInPage } from "./pages/sign-in.js";
import { OAUTH } from "./paths.js";
import type { Resources } from "./resources.js";

/** What the pages between a client's request and its answer are made with. */
export interface InteractionOptions {
  readonly context: Pick<Context, "store" | "auditor">;
  readonly signIn: BrowserSignIn;
  readonly resources: Resources;
  readonly site: Site;
  /** The origin of the public base URL: forms come from nowhere else. */
  readonly origin: string;
  /** Binds forms to the interaction that they belong to. */
  readonly formKey: Buffer;
}

/** A request of a browser in the middle of an authorization. */
export interface InteractionRequest {
  readonly provider: Provider;
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly browser: Browser;
  /** The id in the path. */
  readonly uid: string;
  /** The fields of the form that was sent; undefined for GET. */
  readonly form: URLSearchParams | undefined;
}

/** An interaction with what every page of it needs. */
interface Asked extends InteractionRequest, AskingClient {
  readonly provider: Provider;
  readonly action: string;
  readonly csrf: string;
  readonly leadsTo: readonly string[];
}

/** What was answered to an earlier page of the interaction counts no more. */
const NEW = { mergeWithLastSubmission: false };

/** Shows the pages of an authorization, and takes what is entered there. */
export class Interactions {
  constructor(private readonly options: InteractionOptions) {}

  /**
   * Answers a request to {base}/oauth/interaction/{uid}.
   *
   * @throws InteractionError, or the library's SessionNotFound where the interaction is over or another browser's.
   */
  async handle(given: InteractionRequest): Promise<void> {
    const asked = await this.askedOf(given);
    const { details, form, request } = asked;
    if (form !== undefined) this.checkForm(asked, request, form);
    const step = details.prompt.name;
    if (step === "login") return form === undefined ? this.showSignIn(asked) : this.takeSignIn(asked, form);
    if (step === "consent") return form === undefined ? this.showConsent(asked) : this.takeConsent(asked, form);
    throw new InteractionError("The client asks for something that this service does not do.");
  }

  private async askedOf(given: InteractionRequest): Promise<Asked> {
    const { provider, request, response, uid } = given;
    const details = await provider.interactionDetails(request, response);
    if (details.uid !== uid)
      throw new InteractionError("This page belongs to another sign-in. Start again in the client.");
    const clientId = String(details.params.client_id);
    const client = await provider.Client.find(clientId);
    const redirect = new URL(String(details.params.redirect_uri));
    const { base } = this.options.site;
    return {
      ...given,
      details,
      clientName: client?.clientName || "A client without a name",
      clientHost: parsedUrl(clientId)?.host ?? "",
      redirect,
      action: `${base}${OAUTH}/interaction/${uid}`,
      csrf: this.csrfOf(uid),
      leadsTo: [redirect.protocol.startsWith("http") ? redirect.origin : redirect.protocol],
    };
  }

  /** Another site can have a browser send a form, but not from our origin, and not with our mark. */
  private checkForm({ csrf }: Asked, { headers }: IncomingMessage, form: URLSearchParams): void {
    const site = headers["sec-fetch-site"];
    const isOurs = site === undefined ? true : site === "same-origin" || site === "none";
    const isFromUs = headers.origin === undefined || headers.origin === this.options.origin;
    if (!isOurs || !isFromUs || !isSameText(form.get("csrf") ?? "", csrf)) {
      throw new InteractionError("The form was not sent from this page. Start again in the client.");
    }
  }

  private csrfOf(uid: string): string {
    return createHmac("sha256", this.options.formKey).update(uid).digest("base64url");
  }

  private async showSignIn(asked: Asked): Promise<void> {
    const { signIn } = this.options;
    const { prompt, params } = asked.details;
    const present = await signIn.of(asked.browser);
    // Whoever came back from another provider to this page has signed in since the client asked.
    if (present !== undefined && (present.page === asked.action || !wantsAgain(prompt))) {
      const { user } = present;
      return present.mustChangePassword
        ? this.showNewPassword(asked, user, "")
        : this.signedIn(asked, { user, setCookies: [] });
    }
    const hint = typeof params.login_hint === "string" ? params.login_hint.slice(0, 254) : "";
    this.showForm(asked, hint, "");
  }

  private showForm(asked: Asked, email: string, problem: string): void {
    const { response, action, csrf, leadsTo, clientName } = asked;
    const again = wantsAgain(asked.details.prompt);
    const others = this.options.signIn.others.map(({ label, hrefFor }) => ({ label, href: hrefFor(action, again) }));
    this.send(response, signInPage({ action, csrf, leadsTo, clientName, email, problem, others }));
  }

  private showNewPassword({ response, action, csrf, leadsTo }: Asked, user: UserRecord, problem: string): void {
    this.send(response, newPasswordPage({ action, csrf, leadsTo, problem, email: emailOf(user) }));
  }

  private async takeSignIn(asked: Asked, form: URLSearchParams): Promise<void> {
    const { signIn } = this.options;
    const { browser } = asked;
    if (form.has("next")) {
      const present = await signIn.of(browser);
      if (present === undefined) return this.showForm(asked, "", "The sign-in has ended: sign in again.");
      const { user } = present;
      const done = await signIn.changePassword(browser, user, form.get("current") ?? "", form.get("next") ?? "");
      return "problem" in done ? this.showNewPassword(asked, user, done.problem) : this.signedIn(asked, done);
    }
    const email = form.get("email") ?? "";
    const done: SignedIn | NotSignedIn = await signIn.withPassword(browser, email, form.get("password") ?? "");
    if ("problem" in done) return this.showForm(asked, email, done.problem);
    if (done.user.must_change_password !== true) return this.signedIn(asked, done);
    asked.response.setHeader("set-cookie", [...done.setCookies]);
    this.showNewPassword(asked, done.user, "");
  }

  private async signedIn({ provider, request, response }: Asked, { user, setCookies }: SignedIn): Promise<void> {
    const login = { accountId: user._id, remember: false };
    const returnTo = await provider.interactionResult(request, response, { login }, NEW);
    redirect(response, returnTo, setCookies);
  }

  private async showConsent(asked: Asked): Promise<void> {
    const { response, action, csrf, leadsTo, clientName, clientHost, redirect } = asked;
    const user = await this.userOf(asked);
    const { resource, scopes } = wantedOf(asked.details, this.options.resources);
    this.send(
      response,
      consentPage({
        action,
        csrf,
        leadsTo,
        clientName,
        clientHost,
        redirect: redirect.host === "" ? redirect.protocol : redirect.host,
        isLocal: redirect.protocol === "http:",
        email: emailOf(user),
        subject: resource.subject,
        resource: resource.url,
        asksToWrite: scopes.includes(resource.scopes[1]),
        until: new Date(Date.now() + GRANT_S * 1000),
      }),
    );
  }

  private async takeConsent(asked: Asked, form: URLSearchParams): Promise<void> {
    const { provider, request, response } = asked;
    const user = await this.userOf(asked);
    if (form.get("answer") === "switch") return this.switchPerson(asked);
    if (form.get("answer") !== "allow") {
      noteConnection(this.options.context, user, { action: "connect", grantId: "", outcome: "denied" });
      const refused = { error: "access_denied", error_description: "the person did not allow it" };
      return redirect(response, await provider.interactionResult(request, response, refused, NEW), []);
    }
    const wanted = wantedOf(asked.details, this.options.resources);
    const grantId = await makeGrant(this.options.context, asked, {
      user,
      wanted,
      mayWrite: form.get("write") === "yes",
    });
    noteConnection(this.options.context, user, { action: "connect", grantId, outcome: "ok" });
    const result = { consent: { grantId } };
    const returnTo = await provider.interactionResult(request, response, result, { mergeWithLastSubmission: true });
    redirect(response, returnTo, []);
  }

  /** Begins the client's request from its beginning, with the form of the sign-in. */
  private async switchPerson({ response, browser, details }: Asked): Promise<void> {
    const { base } = this.options.site;
    // The library would ask the person to confirm that another takes the place of the one before.
    const forgotten = [SESSION_COOKIE, `${SESSION_COOKIE}.sig`].map(
      (name) => `${name}=; Max-Age=0; Path=${base}${OAUTH}`,
    );
    const setCookies = [...forgotten, ...(await this.options.signIn.signOut(browser))];
    const again = new URLSearchParams({ ...(details.params as Record<string, string>), prompt: "login" });
    redirect(response, `${base}${OAUTH}/authorize?${again}`, setCookies);
  }

  private async userOf({ details }: Asked): Promise<UserRecord> {
    const user = await this.options.context.store.users.findOne({ _id: String(details.session?.accountId) });
    if (user === null || user.disabled)
      throw new InteractionError("The account is disabled: ask an administrator to enable it.");
    return user;
  }

  private send(response: ServerResponse, page: Shown): void {
    sendPage(response, this.options.site, page);
  }
}

/** The client, or the person, wants a new sign-in even if somebody is signed in. */
function wantsAgain({ reasons }: AskingClient["details"]["prompt"]): boolean {
  return reasons.includes("login_prompt") || reasons.includes("max_age");
}

function redirect(response: ServerResponse, location: string, setCookies: readonly string[]): void {
  const cookies = [response.getHeader("set-cookie") ?? []].flat().map(String);
  response.writeHead(303, { location, "cache-control": "no-store", "set-cookie": [...cookies, ...setCookies] }).end();
}
