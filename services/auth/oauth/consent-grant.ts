import type { Provider } from "oidc-provider";
import type { Context } from "../context.js";
import type { UserRecord } from "../store.js";
import { recordGrant } from "./grants.js";
import { InteractionError } from "./interaction-error.js";
import { GRANT_S } from "./lifetimes.js";
import { keepClient } from "./records.js";
import type { Resource, Resources } from "./resources.js";

/** What the library says of an authorization in progress. */
export type Details = Awaited<ReturnType<Provider["interactionDetails"]>>;

/** Who asks to be let in. */
export interface AskingClient {
  readonly provider: Provider;
  readonly details: Details;
  readonly clientName: string;
  /** "" for a client that registered itself. */
  readonly clientHost: string;
  readonly redirect: URL;
}

/** What is asked for: one endpoint, and scopes there. */
export interface Wanted {
  readonly resource: Resource;
  readonly scopes: readonly string[];
}

/** What a client asks for. @throws InteractionError unless it is exactly one endpoint. */
export function wantedOf({ params, prompt }: Details, resources: Resources): Wanted {
  const { missingResourceScopes = {} } = prompt.details as { missingResourceScopes?: Record<string, string[]> };
  const [entry, ...more] = Object.entries(missingResourceScopes);
  const resource = entry && resources.of(entry[0]);
  if (entry === undefined || resource === undefined || more.length > 0 || Array.isArray(params.resource)) {
    throw new InteractionError("The client must ask for exactly one MCP server. Start again in the client.");
  }
  return { resource, scopes: entry[1] };
}

/** Makes the grant of a consent, with no more than the client asked for and the person left. @returns its id. */
export async function makeGrant(
  context: Pick<Context, "store">,
  { provider, details, clientName, clientHost, redirect }: AskingClient,
  { user, wanted, mayWrite }: { readonly user: UserRecord; readonly wanted: Wanted; readonly mayWrite: boolean },
): Promise<string> {
  const { resource, scopes } = wanted;
  const [, write] = resource.scopes;
  const allowed = scopes.filter((scope) => scope !== write || mayWrite);
  const clientId = String(details.params.client_id);
  const grant = new provider.Grant({ accountId: user._id, clientId });
  const { missingOIDCScope = [] } = details.prompt.details as { missingOIDCScope?: string[] };
  if (missingOIDCScope.length > 0) grant.addOIDCScope(missingOIDCScope.join(" "));
  grant.addResourceScope(resource.url, allowed.join(" "));
  for (const scope of scopes) if (!allowed.includes(scope)) grant.rejectResourceScope(resource.url, scope);
  const grantId = await grant.save();
  await recordGrant(context, {
    _id: grantId,
    user_id: user._id,
    client_id: clientId,
    client_name: clientName,
    client_host: clientHost,
    redirect: redirect.host === "" ? redirect.protocol : redirect.origin,
    resource: resource.url,
    server: resource.server,
    scopes: allowed,
    expires_at: new Date(Date.now() + GRANT_S * 1000),
  });
  await keepClient(context.store, clientId);
  return grantId;
}
