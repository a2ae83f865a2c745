import type { JWTPayload } from "jose";
import type { Vendor } from "../../shared/credentials/external-setting.js";

/** Claims of an access token: the values are whatever the vendor wrote there. */
export type TokenClaims = JWTPayload & Readonly<Record<string, unknown>>;

/** How the access tokens of a vendor's authorization server are read. */
export interface Profile {
  /** The `typ` of their header, in lower case and without `application/`. */
  readonly types: readonly string[];
  /** The claims that can name the client; the first that is there does. */
  readonly client: readonly string[];
  /** The claims that can have the scopes: a list, or words of one text. */
  readonly scope: readonly string[];
  /** Whom a token means at its issuer, in a way that another token of the same person has too; undefined for nobody. */
  subjectOf(claims: TokenClaims): string | undefined;
  /** Why this is no access token that a client was given for a person, such as an ID token; undefined for one that is. */
  refusalOf(claims: TokenClaims): string | undefined;
}

const NOT_FOR_PERSON = "it was issued to a program, not for a person";
const NO_ACCESS_TOKEN = "it is not an access token";

/**
 * The vendors. Sources: RFC 9068 and the vendors' pages on the claims of their access tokens; Keycloak's were seen
 * from 26.4.0.
 */
export const PROFILES = {
  /** Any server whose tokens follow RFC 9068. */
  rfc9068: {
    types: ["at+jwt"],
    client: ["client_id"],
    scope: ["scope"],
    subjectOf: ({ sub }) => sub,
    refusalOf: ({ sub, client_id }) => (sub === client_id ? NOT_FOR_PERSON : undefined),
  },
  keycloak: {
    types: ["jwt", "at+jwt"],
    client: ["azp", "client_id"],
    scope: ["scope"],
    subjectOf: ({ sub }) => sub,
    refusalOf({ typ, preferred_username }) {
      // The claim, not the header: ID, Refresh and Logout tokens have the same header.
      if (typ !== undefined && typ !== "Bearer") return NO_ACCESS_TOKEN;
      const isAccount = typeof preferred_username === "string" && preferred_username.startsWith("service-account-");
      return isAccount ? NOT_FOR_PERSON : undefined;
    },
  },
  auth0: {
    types: ["at+jwt", "jwt"],
    client: ["client_id", "azp"],
    scope: ["scope"],
    subjectOf: ({ sub }) => sub,
    refusalOf({ nonce, gty, sub }) {
      if (nonce !== undefined) return NO_ACCESS_TOKEN;
      return gty === "client-credentials" || sub?.endsWith("@clients") === true ? NOT_FOR_PERSON : undefined;
    },
  },
  entra: {
    types: ["jwt", "at+jwt"],
    client: ["azp"],
    scope: ["scp"],
    // `sub` is another one for each application.
    subjectOf: ({ tid, oid }) => (typeof tid === "string" && typeof oid === "string" ? `${tid}:${oid}` : undefined),
    refusalOf({ ver, scp, idtyp, nonce }) {
      if (ver !== "2.0") return "it is not of version 2.0: set requestedAccessTokenVersion to 2 in the app's manifest";
      if (nonce !== undefined) return NO_ACCESS_TOKEN;
      return scp === undefined || idtyp === "app" ? NOT_FOR_PERSON : undefined;
    },
  },
  okta: {
    types: ["jwt", "at+jwt", "okta-internal-at+jwt"],
    client: ["cid"],
    scope: ["scp"],
    subjectOf: ({ uid }) => (typeof uid === "string" ? uid : undefined),
    refusalOf({ cid, uid, nonce }) {
      if (cid === undefined || nonce !== undefined) return NO_ACCESS_TOKEN;
      return uid === undefined ? NOT_FOR_PERSON : undefined;
    },
  },
} as const satisfies Readonly<Record<Vendor, Profile>>;
