import { createLocalJWKSet, exportJWK, generateKeyPair, type JWTPayload, SignJWT, UnsecuredJWT } from "jose";
import { beforeAll, describe, expect, test } from "vitest";
import {
  createExternalTokens,
  type ExternalIssuer,
  ExternalTokenError,
  type ExternalTokens,
} from "../../../../services/auth/external/verify.js";
import { VENDORS, type Vendor } from "../../../../services/shared/credentials/external-setting.js";

// Access tokens in the shapes of vendors: what is read of each, and what is refused.

const BASE = "https://sallyport.example";
const ENDPOINTS = ["cti", "aev", "grc", "core"].map((server) => ({ server, url: `${BASE}/mcp/${server}` }));
const ISSUERS: Record<Vendor, string> = {
  rfc9068: "https://as.example",
  keycloak: "https://kc.example/realms/r",
  auth0: "https://t.auth0.example/",
  entra: "https://login.example/TID/v2.0",
  okta: "https://o.okta.example/oauth2/cti",
};
const now = Math.floor(Date.now() / 1_000);

let tokens: Record<Vendor, ExternalTokens>;
let keys: Awaited<ReturnType<typeof generateKeyPair>>;
let others: Awaited<ReturnType<typeof generateKeyPair>>;
beforeAll(async () => {
  keys = await generateKeyPair("RS256");
  others = await generateKeyPair("RS256");
  const jwks = createLocalJWKSet({ keys: [{ ...(await exportJWK(keys.publicKey)), kid: "k", alg: "RS256" }] });
  const issuerOf = (vendor: Vendor): ExternalIssuer => ({
    ...{ issuer: ISSUERS[vendor], vendor, algorithms: ["RS256"], keys: jwks, maxLifeS: 5_400 },
    ...{ emailClaim: "email", emailVerifiedClaim: "email_verified" },
    audiences: new Map(
      vendor === "entra"
        ? [
            ["cti", ["app-of-cti"]],
            ["core", ["app-of-core"]],
          ]
        : [],
    ),
  });
  tokens = Object.fromEntries(
    VENDORS.map((vendor) => [vendor, createExternalTokens(issuerOf(vendor), ENDPOINTS)]),
  ) as typeof tokens;
});

interface Shape {
  readonly vendor: Vendor;
  readonly typ: string;
  readonly claims: JWTPayload;
}

/** A good token of each vendor for cti. */
const GOOD: Record<Vendor, Shape> = {
  rfc9068: {
    ...{ vendor: "rfc9068", typ: "at+jwt" },
    claims: { sub: "u1", client_id: "cli", scope: "mcp:cti", aud: `${BASE}/mcp/cti` },
  },
  keycloak: {
    ...{ vendor: "keycloak", typ: "JWT" },
    claims: { sub: "u1", typ: "Bearer", azp: "cli", scope: "openid mcp:cti", aud: [`${BASE}/mcp/cti`, "account"] },
  },
  auth0: {
    ...{ vendor: "auth0", typ: "at+jwt" },
    claims: {
      sub: "auth0|1",
      client_id: "cli",
      scope: "mcp:cti",
      aud: [`${BASE}/mcp/cti`, "https://t.auth0.example/userinfo"],
    },
  },
  entra: {
    ...{ vendor: "entra", typ: "JWT" },
    claims: { sub: "pairwise", oid: "o1", tid: "TID", ver: "2.0", azp: "cli", scp: "mcp.cti", aud: "app-of-cti" },
  },
  okta: {
    ...{ vendor: "okta", typ: "application/okta-internal-at+jwt" },
    claims: { sub: "a@corp.example", uid: "00u", cid: "cli", scp: ["mcp:cti"], aud: `${BASE}/mcp/cti` },
  },
};

const full = ({ vendor, claims }: Shape): JWTPayload => ({
  iss: ISSUERS[vendor],
  iat: now,
  exp: now + 300,
  ...claims,
});
const sign = (shape: Shape, header: object = {}): Promise<string> =>
  new SignJWT(full(shape))
    .setProtectedHeader({ alg: "RS256", kid: "k", typ: shape.typ, ...header })
    .sign(keys.privateKey);
/** A good token of a vendor with other claims; undefined leaves one out. */
const changed = (vendor: Vendor, claims: object): Shape => ({
  ...GOOD[vendor],
  claims: { ...GOOD[vendor].claims, ...claims },
});
const refused = (shape: Shape) =>
  expect(sign(shape).then((token) => tokens[shape.vendor].verify(token))).rejects.toBeInstanceOf(ExternalTokenError);

describe("what is read", () => {
  const read: Record<Vendor, object> = {
    rfc9068: { clientId: "cli", scopes: ["mcp:cti"], person: { subject: "u1" } },
    keycloak: { clientId: "cli", scopes: ["openid", "mcp:cti"], person: { subject: "u1" } },
    auth0: { clientId: "cli", scopes: ["mcp:cti"], person: { subject: "auth0|1" } },
    entra: { clientId: "cli", scopes: ["mcp.cti"], person: { subject: "TID:o1" } },
    okta: { clientId: "cli", scopes: ["mcp:cti"], person: { subject: "00u" } },
  };
  test.each(Object.values(GOOD))("of $vendor", async (shape) => {
    const verified = await tokens[shape.vendor].verify(await sign(shape));
    expect(verified).toMatchObject(read[shape.vendor]);
    expect(verified).toMatchObject({
      person: { issuer: ISSUERS[shape.vendor] },
      ...{ server: "cti", issuedAt: new Date(now * 1_000) },
      expiresAt: new Date((now + 300) * 1_000),
    });
  });

  test("an address, with the issuer's word on it", async () => {
    const address = { email: "a@corp.example", email_verified: true };
    const { person } = await tokens.keycloak.verify(await sign(changed("keycloak", address)));
    expect(person).toMatchObject({ email: "a@corp.example", emailVerified: true });
    const doubtful = await tokens.keycloak.verify(
      await sign(changed("keycloak", { ...address, email_verified: "true" })),
    );
    expect(doubtful.person.emailVerified).toBe(false);
  });
});

describe.each(Object.values(GOOD))("a token of $vendor", (shape) => {
  const { vendor } = shape;
  const both = vendor === "entra" ? ["app-of-cti", "app-of-core"] : [`${BASE}/mcp/cti`, `${BASE}/mcp/core`];
  const wrong: [string, object][] = [
    ["for two servers of ours", { aud: both }],
    ["for one by its URL and another by its other name", { aud: [...both.slice(0, 1), `${BASE}/mcp/aev`] }],
    ["for nobody", { aud: undefined }],
    ["with a slash more", { aud: `${BASE}/mcp/cti/` }],
    ["of another issuer", { iss: "https://eve.example" }],
    ["of another vendor's issuer", { iss: vendor === "okta" ? ISSUERS.entra : ISSUERS.okta }],
    ["that is over", { exp: now - 60 }],
    ["without an end", { exp: undefined }],
    ["without a beginning", { iat: undefined }],
    ["that lives for a day", { exp: now + 86_400 }],
    ["from tomorrow", { iat: now + 86_400, exp: now + 86_700 }],
    ["that is bound to a key", { cnf: { jkt: "x" } }],
    ["without a client", { azp: undefined, client_id: undefined, cid: undefined }],
    ["whose client is a list", { azp: ["cli"], client_id: ["cli"], cid: ["cli"] }],
    ["for nobody in particular", { sub: undefined, oid: undefined, uid: undefined }],
    ["for somebody whose name is too long", { sub: "a".repeat(256), oid: "a".repeat(256), uid: "a".repeat(256) }],
    ["with a hundred and one scopes", { scope: "a ".repeat(101), scp: "a ".repeat(101) }],
  ];
  test.each(wrong)("%s is refused", (_what, claims) => refused(changed(vendor, claims)));

  test.each(["id+jwt", "logout+jwt", "oauth-id-jag+jwt", "sallyport-caller+jwt", "", undefined])(
    "of the type %j is refused",
    (typ) => refused({ ...shape, typ: typ as string }),
  );

  test("with another signature is refused", async () => {
    const header = { alg: "RS256", kid: "k", typ: shape.typ };
    const claims = full(shape);
    const forged = [
      await new SignJWT(claims).setProtectedHeader(header).sign(others.privateKey),
      await new SignJWT(claims).setProtectedHeader({ ...header, alg: "HS256" }).sign(Buffer.alloc(32)),
      await new SignJWT(claims)
        .setProtectedHeader({ ...header, alg: "PS256" })
        .sign((await generateKeyPair("PS256")).privateKey),
      await sign(shape, { kid: "other" }),
      new UnsecuredJWT(claims).encode(),
      `${(await sign(shape)).slice(0, -4)}AAAA`,
      `${await sign(shape)}.x`,
      "x".repeat(20_000),
      "",
    ];
    for (const token of forged) await expect(tokens[vendor].verify(token)).rejects.toBeInstanceOf(ExternalTokenError);
  });
});

describe("tokens that are none for a person", () => {
  const programs: [string, Shape][] = [
    ["an ID token of Keycloak", changed("keycloak", { typ: "ID" })],
    ["a refresh token of Keycloak", changed("keycloak", { typ: "Refresh" })],
    ["a service account of Keycloak", changed("keycloak", { preferred_username: "service-account-cli" })],
    ["an ID token of Auth0", changed("auth0", { nonce: "n" })],
    ["a program of Auth0", changed("auth0", { gty: "client-credentials" })],
    ["a program of Auth0, by its subject", changed("auth0", { sub: "cli@clients" })],
    ["a program of Entra ID", changed("entra", { scp: undefined, roles: ["x"] })],
    ["a program of Entra ID that says so", changed("entra", { idtyp: "app" })],
    ["an old token of Entra ID", changed("entra", { ver: "1.0" })],
    ["an ID token of Entra ID", changed("entra", { nonce: "n" })],
    ["an ID token of Okta", changed("okta", { cid: undefined })],
    ["a program of Okta", changed("okta", { uid: undefined, sub: "cli" })],
    ["a program by RFC 9068", changed("rfc9068", { sub: "cli" })],
  ];
  test.each(programs)("%s", (_what, shape) => refused(shape));
});

test("an issuer whose keys cannot be had says nothing of the token", async () => {
  const away = createExternalTokens(
    {
      ...{ issuer: ISSUERS.keycloak, vendor: "keycloak", algorithms: ["RS256"], audiences: new Map(), maxLifeS: 600 },
      ...{ emailClaim: "email", emailVerifiedClaim: "email_verified" },
      keys: () => Promise.reject(new Error("connect ECONNREFUSED")),
    },
    ENDPOINTS,
  );
  const token = await sign(GOOD.keycloak);
  await expect(away.verify(token)).rejects.toThrow("ECONNREFUSED");
  await expect(away.verify(token)).rejects.not.toBeInstanceOf(ExternalTokenError);
});
