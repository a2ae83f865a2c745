import { parsedUrl } from "../../shared/parsed-url.js";
import { errors } from "./library.js";

// What clients say of themselves, in a registration (RFC 7591) or in a client
// ID metadata document, is made to fit what is served here, before it is
// checked: clients name more than they need.

/** The pseudo member by which the library has every client looked at. */
export const NORMALIZED = "sallyport_normalized";

/** What documents list that offer several authentication methods. */
export const SUPPORTED = "token_endpoint_auth_methods_supported";

/** Longest name of a client that is shown, in characters. */
const MAX_NAME = 120;
const MAX_REDIRECTS = 20;
const LOOPBACK: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);
/** Grant type of enterprise-managed authorization (RFC 7523 section 2.1). */
export const JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer";

/** Members that would have us fetch, show or ask for what nobody needs. */
const DROPPED = [
  // As an allow-list it would shut out a client that goes on to another endpoint with the same registration.
  "scope",
  "sector_identifier_uri",
  "initiate_login_uri",
  "default_max_age",
  "default_acr_values",
  "require_auth_time",
  "logo_uri",
  "policy_uri",
  "tos_uri",
];

/** Where a client appears. */
export interface ClientAppearance {
  /** The request is authenticated by an assertion that the client signed (RFC 7523 section 2.2). */
  readonly isSigned: boolean;
  /** Assertions of other providers are exchanged here. */
  readonly takesAssertions: boolean;
}

/**
 * Makes a client's metadata fit.
 *
 * @throws errors.InvalidRedirectUri for a redirect over HTTP that does not stay on the person's machine.
 */
export function normalizeClient(
  metadata: Record<string, unknown>,
  { isSigned, takesAssertions }: ClientAppearance,
): void {
  metadata[NORMALIZED] = true;
  for (const name of DROPPED) delete metadata[name];
  // Clients name more than there is, and leave out what they use.
  if (takesAssertions && sendsNobody(metadata)) {
    metadata.grant_types = [JWT_BEARER];
    metadata.response_types = [];
  } else {
    metadata.grant_types = ["authorization_code", "refresh_token", ...(takesAssertions ? [JWT_BEARER] : [])];
    metadata.response_types = ["code"];
  }
  metadata.token_endpoint_auth_method = methodOf(metadata, isSigned);
  if (metadata.token_endpoint_auth_method === "none") {
    // Without a secret there is none to keep.
    for (const name of OF_SECRETS) delete metadata[name];
  }
  const uris = Array.isArray(metadata.redirect_uris) ? metadata.redirect_uris : [];
  const kinds = uris.map(kindOf);
  if (kinds.includes("open") || uris.length > MAX_REDIRECTS) throw new errors.InvalidRedirectUri();
  // Clients that leave it out would be taken for web sites, whose loopback ports may not change.
  metadata.application_type = kinds.includes("native") ? "native" : "web";
  if (typeof metadata.client_name === "string") metadata.client_name = metadata.client_name.slice(0, MAX_NAME);
}

/** Whether a client presents assertions and does nothing else: it needs no redirect (RFC 7591 section 2). */
function sendsNobody({ grant_types: types, redirect_uris: uris }: Record<string, unknown>): boolean {
  const hasNone = uris === undefined || (Array.isArray(uris) && uris.length === 0);
  return hasNone && Array.isArray(types) && types.includes(JWT_BEARER) && !types.includes("authorization_code");
}

const OF_SECRETS = ["client_secret", "client_secret_expires_at", "token_endpoint_auth_signing_alg"];

/**
 * How a client authenticates. A document that is meant for many servers lists
 * what the client can do, in SUPPORTED: then what it does in this request counts.
 */
function methodOf(metadata: Record<string, unknown>, isSigned: boolean): "none" | "private_key_jwt" {
  const supported = metadata[SUPPORTED];
  const both = Array.isArray(supported) && supported.includes("none") && supported.includes("private_key_jwt");
  if (both) return isSigned ? "private_key_jwt" : "none";
  return metadata.token_endpoint_auth_method === "private_key_jwt" ? "private_key_jwt" : "none";
}

/** Whether a redirect goes to a web site, to a program on the person's machine, or openly through a network. */
function kindOf(uri: unknown): "web" | "native" | "open" {
  const url = typeof uri === "string" ? parsedUrl(uri) : undefined;
  if (url === undefined) return "open";
  const { protocol, hostname } = url;
  if (protocol === "https:") return "web";
  if (protocol === "http:") return LOOPBACK.has(hostname) ? "native" : "open";
  return SCRIPTS.has(protocol) ? "open" : "native";
}

/** Schemes that a browser runs or shows in the page's own place. */
const SCRIPTS: ReadonlySet<string> = new Set(["javascript:", "data:", "vbscript:", "file:", "blob:", "about:"]);
