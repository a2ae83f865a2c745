import { type OutgoingPolicy, PUBLIC_ONLY } from "../../shared/outgoing/policy.js";
import type { Log } from "../../shared/process/log.js";
import type { Seal } from "../../shared/secrets/seal.js";
import type { Context } from "../context.js";
import type { ProviderSetting } from "../federation/setting.js";
import { type AuthorizationServer, createAuthorizationServer } from "./authorization-server.js";
import type { BrowserSignIn } from "./browser-sign-in.js";
import { createClientFetch } from "./fetch-client.js";
import { endGrant } from "./grants.js";
import { createIssuers, type IssuerSetting } from "./id-jag/issuers.js";
import { Interactions } from "./interaction.js";
import { noteConnection, noteTokens } from "./noted.js";
import { keyFor } from "./page-secret.js";
import type { Site } from "./pages/page.js";
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

/** What the pages of the authorization server share with the console. */
export interface BrowserParts {
  readonly site: Site;
  /** The secret of the installation's pages. */
  readonly secret: Buffer;
  readonly signIn: BrowserSignIn;
}

/** A start does not wait for the library, and the first who signs in does not either, this many milliseconds later. */
const LOAD_AFTER_MS = 5_000;

/** What the library is part of; importing it again costs nothing. */
const loadLibrary = () => Promise.all([import("./provider.js"), import("./id-jag/grant-type.js")]);

/** Puts the authorization server together. */
export async function openAuthorizationServer(
  context: Context,
  options: Omit<AuthorizationServerSettings, "serviceName"> & { readonly seal: Seal; readonly log: Log },
  { site, secret, signIn }: BrowserParts,
): Promise<AuthorizationServer> {
  const { seal, publicUrls = {}, outgoing = PUBLIC_ONLY, idJagIssuers = [], log } = options;
  const { clientDocuments = true } = options;
  const { store, issuer, accessRing: ring } = context;
  const url = new URL(issuer);
  const resources = layOutResources(issuer, publicUrls);
  const fetchClient = createClientFetch(outgoing);
  const issuers = createIssuers(idJagIssuers, fetchClient);
  const cookieKey = keyFor(secret, "cookies").toString("base64url");
  // If that fails, the first who signs in is told why.
  setTimeout(() => void loadLibrary().catch(() => undefined), LOAD_AFTER_MS).unref();
  const endOf = async (id: string): Promise<void> => {
    const grant = await store.grants.findOne({ _id: id });
    await endGrant(context, id);
    const user = grant && (await store.users.findOne({ _id: grant.user_id }));
    if (grant?.revoked_at === null) {
      noteConnection(context, user ?? undefined, { action: "end_connection", grantId: id, outcome: "by_client" });
    }
  };
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
      const [{ createProvider }, { registerIdJag }] = await loadLibrary();
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
    site,
    log,
  });
}
