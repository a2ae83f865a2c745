import { type OutgoingPolicy, PUBLIC_ONLY } from "../../shared/outgoing/policy.js";
import type { Log } from "../../shared/process/log.js";
import type { Seal } from "../../shared/secrets/seal.js";
import type { Context } from "../context.js";
import { createFederation } from "../federation/federation.js";
import type { ProviderSetting } from "../federation/setting.js";
import { createBrowserSignIn } from "../sign-in/at-browser.js";
import { createSignInCookies } from "../sign-in/cookies.js";
import { type AuthorizationServer, createAuthorizationServer } from "./authorization-server.js";
import { createClientFetch } from "./fetch-client.js";
import { endGrant } from "./grants.js";
import { registerIdJag } from "./id-jag/grant-type.js";
import { createIssuers, type IssuerSetting } from "./id-jag/issuers.js";
import { Interactions } from "./interaction.js";
import { noteConnection, noteTokens } from "./noted.js";
import { OutsideSignIn, outsideHref } from "./outside-sign-in.js";
import { keyFor, openPageSecret } from "./page-secret.js";
import { createProvider } from "./provider.js";
import { layOutResources } from "./resources.js";

/** What a deployment says of its authorization server. */
export interface AuthorizationServerSettings {
  /** Further public URLs of MCP endpoints, by server. */
  readonly publicUrls?: Readonly<Record<string, string>>;
  /** The name that users see; the product's if omitted. */
  readonly serviceName?: string;
  /** Which addresses are called that clients name; public ones alone if omitted. */
  readonly outgoing?: OutgoingPolicy;
  /** Whether clients may introduce themselves by a document; they may if omitted. */
  readonly clientDocuments?: boolean;
  /** Identity providers whose ID-JAGs are exchanged for tokens; none if omitted. */
  readonly idJagIssuers?: readonly IssuerSetting[];
  /** Outside providers at which people sign in; none if omitted. */
  readonly signInProviders?: readonly ProviderSetting[];
}

/** Puts the authorization server together. */
export async function openAuthorizationServer(
  context: Context,
  options: AuthorizationServerSettings & { readonly seal: Seal; readonly log: Log },
): Promise<AuthorizationServer> {
  const { seal, publicUrls = {}, serviceName = "Sallyport", outgoing = PUBLIC_ONLY, idJagIssuers = [], log } = options;
  const { clientDocuments = true, signInProviders = [] } = options;
  const { store, issuer, accessRing: ring } = context;
  const url = new URL(issuer);
  const secret = await openPageSecret(store, seal);
  const resources = layOutResources(issuer, publicUrls);
  const site = { base: url.pathname.replace(/\/$/, ""), serviceName };
  const fetchClient = createClientFetch(outgoing);
  const issuers = createIssuers(idJagIssuers, fetchClient);
  const cookieKey = keyFor(secret, "cookies").toString("base64url");
  const endOf = async (id: string): Promise<void> => {
    const grant = await store.grants.findOne({ _id: id });
    await endGrant(context, id);
    const user = grant && (await store.users.findOne({ _id: grant.user_id }));
    if (grant?.revoked_at === null) {
      noteConnection(context, user ?? undefined, { action: "end_connection", grantId: id, outcome: "by_client" });
    }
  };
  const federation = createFederation({ context, providers: signInProviders, baseUrl: issuer, seal, outgoing, log });
  const others = federation.providers().map(({ id, label }) => ({
    label: `Sign in with ${label}`,
    hrefFor: (returnTo: string, again: boolean) => outsideHref(site, id, returnTo, again),
  }));
  const cookies = createSignInCookies(url.protocol === "https:", keyFor(secret, "known browsers"));
  const signIn = createBrowserSignIn({ context, cookies, throttle: context.throttle, others });
  const interactions = new Interactions({
    context,
    signIn,
    resources,
    site,
    origin: url.origin,
    formKey: keyFor(secret, "forms"),
  });
  return createAuthorizationServer({
    issuer: url,
    ring,
    async providerOf() {
      const provider = createProvider({
        issuer,
        store,
        seal,
        resources,
        keys: await ring.signingJwks(),
        cookieKey,
        fetchClient,
        site,
        clientDocuments,
        takesAssertions: issuers.size > 0,
        endGrant: endOf,
        log,
      });
      if (issuers.size > 0) registerIdJag(provider, { context, resources, issuers });
      noteTokens(provider, context);
      return provider;
    },
    interactions,
    outside: new OutsideSignIn({ federation, signIn, site }),
    site,
    log,
    close: () => federation.close(),
  });
}
