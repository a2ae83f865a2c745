/** The realm's name. */
export const REALM = "corp";
/** The client's secret. */
export const CLIENT_SECRET = "the-secret-of-the-client-at-keycloak";
/** Everybody's password. */
export const PASSWORD = "a-password-of-everybody";

/** The audience of the tokens of the client `cli`, which calls an MCP server with them. */
export const AUDIENCE = "https://sallyport.example/mcp/cti";

/** Somebody of the realm: what tests say of them. */
interface Person {
  readonly username: string;
  readonly email?: string;
  readonly emailVerified?: boolean;
  readonly groups?: readonly string[];
  readonly enabled?: boolean;
}

const PEOPLE: readonly Person[] = [
  { username: "ana", groups: ["/soc", "/soc/night", "/cooks"] },
  { username: "bob", groups: ["/analysts"] },
  { username: "carol", groups: ["/admins"] },
  { username: "dan", emailVerified: false },
  { username: "erin", email: "erin@elsewhere.example" },
  { username: "frank" },
  { username: "grace", enabled: false },
];

/** A realm as an administrator of Keycloak exports it: people with groups, and a client with a mapper of groups. */
export function realmOf(redirectUri: string): object {
  return {
    realm: REALM,
    enabled: true,
    groups: [
      { name: "soc", subGroups: [{ name: "night" }] },
      { name: "analysts" },
      { name: "admins" },
      { name: "cooks" },
    ],
    users: PEOPLE.map(
      ({ username, email = `${username}@corp.example`, emailVerified = true, groups = [], enabled = true }) => ({
        ...{ username, email, emailVerified, enabled, groups, firstName: username, lastName: "of Corp" },
        credentials: [{ type: "password", value: PASSWORD, temporary: false }],
      }),
    ),
    clients: [
      {
        ...{ clientId: "sallyport", secret: CLIENT_SECRET, publicClient: false, standardFlowEnabled: true },
        redirectUris: [redirectUri],
        attributes: { "pkce.code.challenge.method": "S256" },
        protocolMappers: [
          {
            ...{ name: "groups", protocol: "openid-connect", protocolMapper: "oidc-group-membership-mapper" },
            config: {
              "claim.name": "groups",
              "full.path": "true",
              "id.token.claim": "true",
              "access.token.claim": "false",
            },
          },
        ],
      },
      {
        ...{ clientId: "cli", secret: CLIENT_SECRET, publicClient: false, standardFlowEnabled: false },
        ...{ directAccessGrantsEnabled: true, serviceAccountsEnabled: true },
        protocolMappers: [
          {
            ...{ name: "audience", protocol: "openid-connect", protocolMapper: "oidc-audience-mapper" },
            config: { "included.custom.audience": AUDIENCE, "access.token.claim": "true", "id.token.claim": "true" },
          },
        ],
      },
    ],
  };
}
