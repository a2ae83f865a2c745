import type { IssuerSetting } from "../auth/oauth/id-jag/issuers.js";
import { parsedUrl } from "../shared/parsed-url.js";

/** Signatures that are accepted: none that a public key makes. */
export const ALGORITHMS = ["RS256", "PS256", "ES256", "ES384", "EdDSA"] as const;

const TENANT = "tenant=";

/**
 * Reads an entry of ID_JAG_ISSUERS: the issuer's URL, its algorithms, and its
 * tenant if it issues for several, separated by spaces.
 *
 * @throws Error that says what it should be.
 */
export function readIssuer(entry: string): IssuerSetting {
  const [url = "", ...words] = entry.trim().split(/\s+/);
  const tenants = words.filter((one) => one.startsWith(TENANT)).map((one) => one.slice(TENANT.length));
  const algorithms = words.filter((one) => !one.startsWith(TENANT));
  const isUrl = /^https?:$/.test(parsedUrl(url)?.protocol ?? "") && !/[?#]/.test(url);
  const isKnown = algorithms.length > 0 && algorithms.every((one) => ALGORITHMS.some((known) => known === one));
  if (!isUrl || !isKnown || tenants.length > 1 || tenants[0] === "") {
    throw new Error(
      `must be an issuer's URL and its algorithms (${ALGORITHMS.join(", ")}), and tenant=NAME if it issues for several companies, such as "https://idp.example.com RS256"`,
    );
  }
  return { url, algorithms, tenant: tenants[0] };
}
