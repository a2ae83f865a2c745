import { createWorkLimit, type WorkLimit } from "../../shared/limits/work-limit.js";
import type { OutgoingPolicy } from "../../shared/outgoing/policy.js";
import type { Log } from "../../shared/process/log.js";
import type { Seal } from "../../shared/secrets/seal.js";
import type { Context } from "../context.js";
import type { UserRecord } from "../store.js";
import { failureOf, wordsOf } from "./failure.js";
import { knownUserOf } from "./known-user.js";
import { mapGroups } from "./mapped-groups.js";
import { noteChange, noteRefusal } from "./noted.js";
import { createPendingSignIns, type PendingSignIn, type PendingSignIns } from "./pending.js";
import { type OutsidePerson, personOf } from "./person.js";
import { createProvider, type Provider } from "./provider.js";
import { createProviderFetch } from "./provider-fetch.js";
import { type RefusalReason, SignInRefusedError } from "./refusal.js";
import { returnPathOf } from "./return-path.js";
import type { ProviderSetting } from "./setting.js";

/** A sign-in that begins: the browser is sent to the URL, and given the Set-Cookie header. */
export interface BegunSignIn {
  readonly url: string;
  readonly setCookie: string;
}

/** Somebody signed in at a provider. The Set-Cookie header ends what the browser kept of it; a session is not begun. */
export interface FederatedSignIn {
  readonly user: UserRecord;
  /** How they did (RFC 8176 has no value of its own for it). */
  readonly amr: readonly ["fed"];
  /** The provider was asked to ask who they are. */
  readonly again: boolean;
  /** A path below `{base}/oauth/`. */
  readonly returnTo: string;
  readonly setCookie: string;
}

/** Nobody is signed in. */
export interface RefusedSignIn {
  readonly reason: RefusalReason;
  /** Why, and what to do, as sentences for the person. */
  readonly problem: string;
  /** Where the person may try another way; undefined if that is not known. */
  readonly returnTo: string | undefined;
  readonly setCookie: string;
}

/** How a sign-in begins. */
export interface BeginOptions {
  /** A path below `{base}/oauth/`, where the browser comes back to. */
  readonly returnTo: string;
  /** Whether the provider is to ask who the person is, even if it knows: without it, nobody can change to another account. */
  readonly again?: boolean;
}

/** Sign-in at outside OpenID Connect providers (OpenID Connect Core 1.0: authorization code, PKCE, nonce and state). */
export interface Federation {
  /** For the buttons of the sign-in page, in the order of the setting. */
  providers(): readonly { readonly id: string; readonly label: string }[];
  begin(providerId: string, options: BeginOptions): Promise<BegunSignIn | RefusedSignIn>;
  /**
   * Ends a sign-in; each is ended once.
   *
   * @param target the path and query of the callback, `{base}/oauth/federation/{id}/callback?…`.
   * @param cookies the Cookie header of that request; undefined for none.
   */
  finish(target: string, cookies: string | undefined): Promise<FederatedSignIn | RefusedSignIn>;
  /** Ends the connections to providers. */
  close(): Promise<void>;
}

/** What federation is made with. */
export interface FederationOptions {
  readonly context: Pick<Context, "store" | "hub" | "auditor" | "administrators" | "emailDomains">;
  readonly providers: readonly ProviderSetting[];
  /** The public base URL, without a last slash. */
  readonly baseUrl: string;
  readonly seal: Seal;
  /** Which addresses providers may have. */
  readonly outgoing: OutgoingPolicy;
  readonly log: Log;
  /** How long a request to a provider may take, in milliseconds. */
  readonly answerMs?: number;
}

/** Sign-ins of one provider that wait for its answers at once, and that wait for these. */
const EXCHANGES = 32;
const EXCHANGES_WAITING = 100;
/** Longest address of a callback, in characters. */
const MAX_TARGET = 8_192;

/** Makes the sign-in at outside providers. Nobody is asked before somebody signs in. */
export function createFederation(options: FederationOptions): Federation {
  return new OpenidFederation(options);
}

interface Known {
  readonly provider: Provider;
  readonly limit: WorkLimit;
}

class OpenidFederation implements Federation {
  readonly #known: ReadonlyMap<string, Known>;
  readonly #pending: PendingSignIns;
  readonly close: () => Promise<void>;

  constructor(private readonly options: FederationOptions) {
    const { providers, baseUrl, seal, outgoing, context, answerMs } = options;
    const { fetch, close } = createProviderFetch(outgoing, answerMs);
    this.close = close;
    this.#pending = createPendingSignIns({ seal, baseUrl, store: context.store });
    this.#known = new Map(
      providers.map((setting) => {
        // Each provider has a callback of its own: the answer of one is not taken for another's (RFC 9700 section 4.4).
        const redirectUri = `${baseUrl}/oauth/federation/${setting.id}/callback`;
        const provider = createProvider(setting, { fetch, redirectUri, ...(answerMs !== undefined && { answerMs }) });
        return [setting.id, { provider, limit: createWorkLimit(EXCHANGES, EXCHANGES_WAITING) }];
      }),
    );
  }

  providers(): readonly { readonly id: string; readonly label: string }[] {
    return [...this.#known.values()].map(({ provider: { setting } }) => ({ id: setting.id, label: setting.label }));
  }

  async begin(providerId: string, { returnTo, again = false }: BeginOptions): Promise<BegunSignIn | RefusedSignIn> {
    const path = returnPathOf(returnTo, this.options.baseUrl);
    try {
      const { provider, limit } = this.#providerOf(providerId);
      if (path === undefined) {
        const said = "This address does not lead to a page of this service. Start again in the client.";
        throw new SignInRefusedError("foreign_return", said);
      }
      const { pending, setCookie } = this.#pending.begin(providerId, { returnTo: path, again });
      return { url: await asked(provider, limit, () => provider.authorizationUrl(pending, again)), setCookie };
    } catch (error) {
      return this.#refused(error, providerId, path);
    }
  }

  async finish(target: string, cookies: string | undefined): Promise<FederatedSignIn | RefusedSignIn> {
    const pending = this.#pending.in(cookies);
    const query = target.indexOf("?");
    const path = query === -1 ? target : target.slice(0, query);
    const providerId = /\/oauth\/federation\/([a-z0-9-]{1,32})\/callback$/.exec(path)?.[1] ?? "";
    try {
      const { provider, limit } = this.#providerOf(providerId);
      const answer = new URLSearchParams(query === -1 || target.length > MAX_TARGET ? "" : target.slice(query));
      const checks = await this.#checksOf(pending, providerId, answer);
      const claims = await asked(provider, limit, () => provider.redeem(answer, checks));
      const user = await this.#userOf(personOf(claims, provider.setting), provider.setting);
      return { user, amr: ["fed"], again: checks.again, returnTo: checks.returnTo, setCookie: this.#pending.end() };
    } catch (error) {
      return this.#refused(error, providerId, pending?.returnTo);
    }
  }

  #providerOf(id: string): Known {
    const known = this.#known.get(id);
    if (known !== undefined) return known;
    throw new SignInRefusedError("unknown_provider", "There is no such way to sign in. Start again in the client.");
  }

  /** Nothing is sent to the provider unless this browser began this very sign-in, at this provider, and has not ended it. */
  async #checksOf(
    pending: PendingSignIn | undefined,
    providerId: string,
    answer: URLSearchParams,
  ): Promise<PendingSignIn> {
    const isOurs = pending?.providerId === providerId && this.#pending.matches(pending, answer.get("state"));
    if (pending === undefined || !isOurs) {
      const said =
        "This browser did not begin this sign-in, or began another one since. Start again in the client, and stay in one browser.";
      throw new SignInRefusedError("other_browser", said);
    }
    if (pending.until <= Date.now())
      throw new SignInRefusedError("expired", "The sign-in took longer than ten minutes. Start again in the client.");
    if (!(await this.#pending.use(pending)))
      throw new SignInRefusedError("used", "This sign-in has ended already. Start again in the client.");
    return pending;
  }

  async #userOf(person: OutsidePerson, setting: ProviderSetting): Promise<UserRecord> {
    const { context, log } = this.options;
    const { id: providerId } = setting;
    const { subject } = person;
    const known = await knownUserOf(context, person, setting);
    if (known.done === "created") noteChange(context, "user_created", known.user, { providerId, subject });
    if (known.done !== "nothing") noteChange(context, "link_identity", known.user, { providerId, subject });
    const { user, changes, isLastAdministrator } = await mapGroups(context, setting, person, known.user, log);
    if (changes.length > 0) noteChange(context, "map_groups", user, { providerId, subject, changes });
    if (isLastAdministrator) {
      noteChange(context, "keep_last_administrator", user, { providerId, subject });
      log.warn(
        { provider: providerId, user: user._id },
        "a provider says that the last administrator is none; the user stays an administrator",
      );
    }
    return user;
  }

  #refused(error: unknown, providerId: string, returnTo: string | undefined): RefusedSignIn {
    if (!(error instanceof SignInRefusedError)) throw error;
    const { reason, message, cause } = error;
    noteRefusal(this.options.context, this.#known.has(providerId) ? providerId : "", error);
    if (cause !== undefined)
      this.options.log.warn(
        { provider: providerId, reason, why: wordsOf(cause) },
        "nobody was signed in by a provider",
      );
    return { reason, problem: message, returnTo, setCookie: this.#pending.end() };
  }
}

/** Asks a provider, whose slowness delays no other sign-ins. @throws SignInRefusedError for whatever comes of it but an answer. */
async function asked<T>({ setting }: Provider, limit: WorkLimit, ask: () => Promise<T>): Promise<T> {
  let failure: SignInRefusedError | undefined;
  try {
    return await limit.run(() =>
      ask().catch((error: unknown) => {
        failure = failureOf(error, setting);
        throw failure;
      }),
    );
  } catch (error) {
    if (failure !== undefined) throw failure;
    const said = `Too many people sign in with ${setting.label} now. Try again in a minute, or sign in with your password.`;
    throw new SignInRefusedError("busy", said, {}, error);
  }
}
