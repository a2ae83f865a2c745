import type { IssuerSetting } from "../auth/oauth/id-jag/issuers.js";

/** Signatures that are accepted: none that a public key makes. */
export const ALGORITHMS = ["RS256", "PS256", "ES256", "ES384", "EdDSA"] as const;

/**
 * Reads an entry of ID_JAG_ISSUERS: the issuer's URL and its algorithms, separated by spaces.
 *
 * @throws Error that says what it should be.
 */
export function readIssuer(entry: string): IssuerSetting {
  const [url = "", ...algorithms] = entry.trim().split(/\s+/);
  const isUrl = URL.canParse(url) && /^https?:$/.test(new URL(url).protocol) && !/[?#]/.test(url);
  const isKnown = algorithms.length > 0 && algorithms.every((one) => ALGORITHMS.some((known) => known === one));
  if (!isUrl || !isKnown) {
    throw new Error(
      `must be an issuer's URL and its algorithms (${ALGORITHMS.join(", ")}), such as "https://idp.example.com RS256"`,
    );
  }
  return { url, algorithms };
}
