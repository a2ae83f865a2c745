/** An outside OpenID Connect provider, as a deployment sets it up. */
export interface ProviderSetting {
  /** Part of the callback's path: lower-case letters, digits and hyphens. */
  readonly id: string;
  /** What the button says. */
  readonly label: string;
  /** As the provider's own metadata spells it, letter for letter. */
  readonly issuer: string;
  readonly clientId: string;
  /** undefined for a public client, which proves itself by PKCE alone. */
  readonly clientSecret: string | undefined;
  /** In addition to `openid` and `email`. */
  readonly scopes: readonly string[];
  /** Domains of addresses by which people are linked or created, in lower case and ASCII; none includes its subdomains. */
  readonly emailDomains: readonly string[];
  /** The claim that says, by `true`, that the provider has verified the address. */
  readonly emailVerifiedClaim: string;
  /** Whether somebody who has no user yet gets one. */
  readonly createsUsers: boolean;
  /** The claim that lists a person's groups at the provider. */
  readonly groupsClaim: string;
  /** Groups at the provider, and the names of ours that their members are in. */
  readonly groups: ReadonlyMap<string, string>;
  /** The group at the provider whose members are administrators; undefined if the provider has no say in that. */
  readonly administrators: string | undefined;
}
