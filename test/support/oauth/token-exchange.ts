import type { Employee, EnterpriseIdp } from "./enterprise-idp.js";

export const TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange";
export const ID_JAG = "urn:ietf:params:oauth:token-type:id-jag";
const ID_TOKEN = "urn:ietf:params:oauth:token-type:id_token";

/** A client that signs people in at the identity provider. */
export interface Registration {
  readonly secret: string;
  /** By the issuer of an authorization server: who the client is there, and what the company's policy lets it ask for. */
  readonly reaches: Readonly<Record<string, Reach>>;
}

export interface Reach {
  /** The client's identifier at that authorization server. */
  readonly clientId: string;
  readonly resources: readonly string[];
  /** All that are asked for, if omitted. */
  readonly scopes?: readonly string[];
}

/** An error response of the token endpoint (RFC 6749 section 5.2). */
export class OAuthError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

interface Request {
  readonly form: URLSearchParams;
  readonly authorization: string | undefined;
  readonly clients: ReadonlyMap<string, Registration>;
  readonly personOf: (idToken: string, clientId: string) => Promise<Employee>;
  readonly idp: EnterpriseIdp;
  readonly LIFETIME: number;
}

/** Exchanges an ID token for an ID-JAG (RFC 8693; draft section 4.3, extension section 4). */
export async function exchange({ form, authorization, clients, personOf, idp, LIFETIME }: Request): Promise<object> {
  const only = (name: string): string | undefined => {
    const [value, second] = form.getAll(name);
    if (second !== undefined) throw new OAuthError("invalid_request", `${name} is there more than once`);
    return value;
  };
  const needed = (name: string): string => {
    const value = only(name);
    if (!value) throw new OAuthError("invalid_request", `${name} is missing`);
    return value;
  };
  const [id, client] = authenticated(authorization, only, clients);
  if (needed("grant_type") !== TOKEN_EXCHANGE) throw new OAuthError("unsupported_grant_type", "not a token exchange");
  if (needed("requested_token_type") !== ID_JAG) throw new OAuthError("invalid_request", "no such token is issued");
  if (needed("subject_token_type") !== ID_TOKEN) throw new OAuthError("invalid_request", "no ID token");
  const employee = await personOf(needed("subject_token"), id);
  const audience = needed("audience");
  const reach = client.reaches[audience];
  const resource = needed("resource");
  if (!reach?.resources.includes(resource)) {
    throw new OAuthError("invalid_target", `policy forbids ${resource} of ${audience}`);
  }
  const asked = only("scope");
  const granted = asked
    ?.split(" ")
    .filter((scope) => reach.scopes?.includes(scope) ?? true)
    .join(" ");
  if (asked && !granted) throw new OAuthError("invalid_scope", "policy forbids the scopes");
  return {
    issued_token_type: ID_JAG,
    access_token: await idp.idJag(employee, { audience, clientId: reach.clientId, resource, scope: granted }),
    token_type: "N_A",
    ...(granted !== undefined && { scope: granted }),
    expires_in: LIFETIME,
  };
}

/** client_secret_basic or client_secret_post (RFC 6749 section 2.3.1). */
function authenticated(
  authorization: string | undefined,
  only: (name: string) => string | undefined,
  clients: ReadonlyMap<string, Registration>,
): [string, Registration] {
  const basic = /^Basic (.+)$/i.exec(authorization ?? "")?.[1];
  const [id, secret] =
    basic === undefined
      ? [only("client_id"), only("client_secret")]
      : Buffer.from(basic, "base64")
          .toString()
          .split(":")
          .map((part) => decodeURIComponent(part.replaceAll("+", " ")));
  const client = clients.get(id ?? "");
  if (id === undefined || client === undefined || client.secret !== secret) {
    throw new OAuthError("invalid_client", "the client is unknown or its secret is wrong");
  }
  return [id, client];
}
