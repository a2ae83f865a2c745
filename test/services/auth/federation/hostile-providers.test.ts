import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT, UnsecuredJWT } from "jose";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { RefusedSignIn } from "../../../../services/auth/federation/federation.js";
import { Browser } from "./browser.js";
import { type FakeProvider, startFakeProvider } from "./fake-provider.js";
import { type Front, openFront, settingOf } from "./front.js";

// What a provider, a browser or somebody between them can send: nobody is signed in, nothing is linked, and the reason
// is in the audit.

const SECRET = "a-secret-of-the-client-0123456789";
const ANSWER_MS = 1_500;

let provider: FakeProvider;
let front: Front;
beforeEach(async () => {
  provider = await startFakeProvider(SECRET);
  provider.conduct.person = { sub: "ana", email: "ana@corp.example", email_verified: true };
  front = await openFront(async () => [settingOf({ issuer: provider.issuer })], { answerMs: ANSWER_MS });
  await front.addUser({ login: "ana@corp.example" });
});
afterEach(async () => {
  await front.close();
  await provider.close();
});

/** Signs in with a browser of its own. */
async function signIn(browser = new Browser()): Promise<Front["ended"][number]> {
  await browser.open(front.startOf("corp"));
  return front.ended.at(-1) as Front["ended"][number];
}

/** A sign-in up to the address of the callback, which is not opened. */
async function callbackOf(browser: Browser): Promise<URL> {
  const { url } = await browser.open(front.startOf("corp"), ({ pathname }) => pathname.endsWith("/callback"));
  return url;
}

/** That a sign-in was refused for a reason, and that it left nothing but a record. */
async function expectRefused(ended: Front["ended"][number], reason: RefusedSignIn["reason"]): Promise<void> {
  expect(ended).toMatchObject({ reason });
  expect((ended as RefusedSignIn).problem).toMatch(/^[A-Z].*\.$/);
  expect(await front.records.identities.countDocuments({})).toBe(0);
  expect((await front.noted()).filter(({ action }) => action === "federated_sign_in")).toMatchObject([
    { outcome: reason },
  ]);
}

test("an honest provider signs its person in", async () => {
  const ended = await signIn();
  expect(ended).toMatchObject({
    user: { login: "ana@corp.example" },
    amr: ["fed"],
    returnTo: "/team/oauth/interaction/one",
  });
});

describe("an ID token that is not believed", () => {
  const other = generateKeyPair("ES256");
  const forms: Record<string, () => void> = {
    "of another issuer": () => {
      provider.conduct.claims = (claims) => ({ ...claims, iss: "https://other.example" });
    },
    "for another client": () => {
      provider.conduct.claims = (claims) => ({ ...claims, aud: "another" });
    },
    "for several clients, none of them named as the one it was issued to": () => {
      provider.conduct.claims = (claims) => ({ ...claims, aud: ["sallyport", "another"] });
    },
    "issued to another client": () => {
      provider.conduct.claims = (claims) => ({ ...claims, aud: ["sallyport", "another"], azp: "another" });
    },
    "with another nonce": () => {
      provider.conduct.claims = (claims) => ({ ...claims, nonce: "another" });
    },
    "without a nonce": () => {
      provider.conduct.claims = ({ nonce: _, ...claims }) => claims;
    },
    "that is over": () => {
      provider.conduct.claims = (claims) => ({ ...claims, exp: Math.floor(Date.now() / 1_000) - 60 });
    },
    "without an end": () => {
      provider.conduct.claims = ({ exp: _, ...claims }) => claims;
    },
    "without a subject": () => {
      provider.conduct.claims = ({ sub: _, ...claims }) => claims;
    },
    "whose subject is too long": () => {
      provider.conduct.claims = (claims) => ({ ...claims, sub: "a".repeat(256) });
    },
    "that is not signed": () => {
      provider.conduct.sign = (claims) => new UnsecuredJWT(claims).encode();
    },
    "that is signed with the client's secret": () => {
      provider.conduct.sign = (claims) =>
        new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(SECRET));
    },
    "that is signed with the public key as a secret": () => {
      const key = Buffer.from(JSON.stringify(provider.publicJwk));
      provider.conduct.sign = (claims) =>
        new SignJWT(claims).setProtectedHeader({ alg: "HS256", kid: "first" }).sign(key);
    },
    "that is signed with a foreign key of the same id": () => {
      provider.conduct.sign = async (claims) =>
        new SignJWT(claims).setProtectedHeader({ alg: "ES256", kid: "first" }).sign((await other).privateKey);
    },
    "that brings its own key": () => {
      provider.conduct.sign = async (claims) => {
        const { privateKey, publicKey } = await other;
        const jwk = await exportJWK(publicKey);
        return new SignJWT(claims).setProtectedHeader({ alg: "ES256", jwk } as never).sign(privateKey);
      };
    },
    "whose algorithm the provider does not list": () => {
      provider.conduct.discovery = (document) => ({ ...document, id_token_signing_alg_values_supported: ["RS256"] });
    },
    "that was changed after it was signed": () => {
      provider.conduct.sign = async (claims) => {
        const [head, , signature] = (await provider.sign(claims)).split(".");
        const forged = Buffer.from(JSON.stringify({ ...claims, sub: "somebody else" })).toString("base64url");
        return `${head}.${forged}.${signature}`;
      };
    },
    "that is no token": () => {
      provider.conduct.sign = () => "nothing";
    },
  };
  test.each(Object.keys(forms))("%s", async (name) => {
    forms[name]?.();
    await expectRefused(await signIn(), "not_verified");
    const log = front.logged.join("");
    expect(log).toContain("nobody was signed in");
    for (const secret of [SECRET, "an-access-token-of-theirs", "eyJ"]) expect(log).not.toContain(secret);
  });

  test("that is not there", async () => {
    provider.conduct.answers["/token"] = (response) =>
      response.writeHead(200, { "content-type": "application/json" }).end('{"access_token":"a","token_type":"Bearer"}');
    await expectRefused(await signIn(), "not_verified");
  });

  test("UserInfo of somebody else", async () => {
    provider.conduct.person = { sub: "ana" };
    provider.conduct.userinfo = { sub: "eve", email: "ana@corp.example", email_verified: true };
    await expectRefused(await signIn(), "not_verified");
  });
});

describe("a callback that is not this browser's next step", () => {
  test("opened in another browser", async () => {
    const url = await callbackOf(new Browser());
    expect((await new Browser().open(url)).status).toBe(403);
    await expectRefused(front.ended.at(-1) as RefusedSignIn, "other_browser");
    expect(provider.asked["/token"]).toBeUndefined();
  });

  test("opened in a browser that began another one", async () => {
    const [attacker, victim] = [new Browser(), new Browser()];
    const url = await callbackOf(attacker);
    await callbackOf(victim);
    await victim.open(url);
    await expectRefused(front.ended.at(-1) as RefusedSignIn, "other_browser");
    expect(provider.asked["/token"]).toBeUndefined();
  });

  test("opened twice, and six times at once, signs in once", async () => {
    const browser = new Browser();
    const url = await callbackOf(browser);
    const cookies = browser.cookiesFor(url);
    const target = `${url.pathname}${url.search}`;
    const all = await Promise.all(Array.from({ length: 6 }, () => front.federation.finish(target, cookies)));
    expect(all.filter((one) => "user" in one)).toHaveLength(1);
    expect(all.filter((one) => "reason" in one && one.reason === "used")).toHaveLength(5);
    expect(await front.federation.finish(target, cookies)).toMatchObject({ reason: "used" });
    expect(provider.asked["/token"]).toBe(1);
  });

  test("with a cookie that was changed, or of another deployment with the same key", async () => {
    const browser = new Browser();
    const url = await callbackOf(browser);
    const target = `${url.pathname}${url.search}`;
    const cookies = browser.cookiesFor(url);
    const changed = `${cookies.slice(0, -2)}${cookies.endsWith("A") ? "B" : "A"}A`;
    expect(await front.federation.finish(target, changed)).toMatchObject({ reason: "other_browser" });
    const second = await openFront(async () => [settingOf({ issuer: provider.issuer })]);
    expect(await second.federation.finish(target, cookies)).toMatchObject({ reason: "other_browser" });
    await second.close();
  });

  test("at the callback of another provider", async () => {
    const both = await openFront(async () => [
      settingOf({ issuer: provider.issuer }),
      settingOf({ issuer: provider.issuer, id: "second", label: "Second" }),
    ]);
    const browser = new Browser();
    const { url } = await browser.open(both.startOf("corp"), ({ pathname }) => pathname.endsWith("/callback"));
    const target = `${url.pathname.replace("/corp/", "/second/")}${url.search}`;
    expect(await both.federation.finish(target, browser.cookiesFor(url))).toMatchObject({ reason: "other_browser" });
    expect(await both.federation.finish("/team/oauth/federation/third/callback?state=a", undefined)).toMatchObject({
      reason: "unknown_provider",
    });
    await both.close();
  });

  test.each(["wrong", ""])("with the state %j", async (state) => {
    provider.conduct.callback = (query) => query.set("state", state);
    await expectRefused(await signIn(), "other_browser");
    expect(provider.asked["/token"]).toBeUndefined();
  });

  test("from another issuer (RFC 9207)", async () => {
    provider.conduct.callback = (query) => query.set("iss", "https://other.example");
    await expectRefused(await signIn(), "not_verified");
    expect(provider.asked["/token"]).toBeUndefined();
  });

  test("with two codes", async () => {
    provider.conduct.callback = (query) => query.append("code", "another");
    await expectRefused(await signIn(), "not_verified");
  });

  test("with an error, which is not repeated to the person", async () => {
    provider.conduct.callback = (query) => {
      query.delete("code");
      query.set("error", "access_denied");
      query.set("error_description", "<script>call 0800 eve</script>");
    };
    const ended = await signIn();
    await expectRefused(ended, "provider_refused");
    expect(JSON.stringify(ended)).not.toContain("eve");
  });

  test("with a code that somebody redeemed", async () => {
    const browser = new Browser();
    const url = await callbackOf(browser);
    url.searchParams.set("code", "stolen");
    await browser.open(url);
    await expectRefused(front.ended.at(-1) as RefusedSignIn, "provider_refused");
  });
});

describe("an address to come back to", () => {
  const foreign = [
    "https://eve.example/team/oauth/a",
    "//eve.example/team/oauth/a",
    "/team/oauth/../../secret",
    "/oauth/a",
  ];
  const odd = [
    "",
    "/team/oauth",
    "/team/oauth/%2e%2e/%2e%2e/a",
    "/\\eve.example/team/oauth/a",
    "team/oauth/a",
    "/team/oauth/\n",
  ];
  test.each([...foreign, ...odd, "javascript:alert(1)//team/oauth/", `/team/oauth/${"a".repeat(1_000)}`])(
    "%j is refused",
    async (returnTo) => {
      expect(await front.federation.begin("corp", { returnTo })).toMatchObject({ reason: "foreign_return" });
    },
  );
  test("below the authorization server's is kept, in its one spelling", async () => {
    const browser = new Browser();
    const start = front
      .startOf("corp")
      .replace(/return_to=.*/, `return_to=${encodeURIComponent("/team/oauth/./x/../authorize?a=%2F&b")}`);
    await browser.open(start);
    expect(front.ended.at(-1)).toMatchObject({ returnTo: "/team/oauth/authorize?a=%2F&b" });
  });
});

describe("a provider that harms, or does not answer", () => {
  const json = { "content-type": "application/json" };
  const DISCOVERY = "/.well-known/openid-configuration";
  const ways: Record<string, () => void | Promise<() => Promise<void>>> = {
    "metadata without an end": () => {
      provider.conduct.answers[DISCOVERY] = (response) => {
        response.writeHead(200, json).write('{"issuer":"');
        const more = setInterval(() => response.write("a".repeat(1 << 16)), 1);
        response.on("close", () => clearInterval(more));
      };
    },
    "metadata that nests a hundred thousand lists": () => {
      provider.conduct.answers[DISCOVERY] = (response) => void response.writeHead(200, json).end("[".repeat(100_000));
    },
    "metadata that is not JSON": () => {
      provider.conduct.answers[DISCOVERY] = (response) => void response.writeHead(200, json).end("<html>");
    },
    "metadata that come byte by byte": () => {
      provider.conduct.answers[DISCOVERY] = (response) => {
        response.writeHead(200, json);
        const more = setInterval(() => response.write(" "), 50);
        response.on("close", () => clearInterval(more));
      };
    },
    "metadata that redirect to an address inside": () => {
      provider.conduct.answers[DISCOVERY] = (response) =>
        void response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end();
    },
    "metadata that redirect to themselves": () => {
      provider.conduct.answers[DISCOVERY] = (response) => void response.writeHead(302, { location: DISCOVERY }).end();
    },
    "a key set that redirects": () => {
      provider.conduct.answers["/jwks"] = (response) =>
        void response.writeHead(302, { location: `${provider.issuer}/other` }).end();
    },
    "a token endpoint that says nothing": () => {
      provider.conduct.answers["/token"] = () => undefined;
    },
    "a token endpoint that fails": () => {
      provider.conduct.answers["/token"] = (response) => void response.writeHead(503).end();
    },
    "a token endpoint that sends ten mebibytes": () => {
      provider.conduct.answers["/token"] = (response) =>
        void response.writeHead(200, json).end(`"${"a".repeat(10 << 20)}"`);
    },
    "metadata at the instance's metadata service": () => {
      provider.conduct.discovery = (document) => ({ ...document, token_endpoint: "http://169.254.169.254/token" });
    },
  };
  test.each(Object.keys(ways))("%s", async (name) => {
    await ways[name]?.();
    const begun = performance.now();
    await expectRefused(await signIn(), "provider_unavailable");
    expect(performance.now() - begun).toBeLessThan(ANSWER_MS * 6);
  });

  const lies: Record<string, (document: Record<string, unknown>) => Record<string, unknown>> = {
    "of another issuer": (document) => ({ ...document, issuer: "https://other.example" }),
    "of an issuer that is spelled another way": (document) => ({ ...document, issuer: `${document.issuer}/` }),
    "that send browsers to a script": (document) => ({ ...document, authorization_endpoint: "javascript:alert(1)" }),
    "that show browsers another name": (document) => ({
      ...document,
      authorization_endpoint: String(document.authorization_endpoint).replace("://", "://corp.example@"),
    }),
    "without a token endpoint": ({ token_endpoint: _, ...document }) => document,
    "whose endpoint is a list": (document) => ({ ...document, jwks_uri: [document.jwks_uri] }),
    "that sign with secrets alone": (document) => ({
      ...document,
      id_token_signing_alg_values_supported: ["HS256", "none"],
    }),
  };
  test.each(Object.keys(lies))("metadata %s", async (name) => {
    provider.conduct.discovery = lies[name] as (typeof lies)[string];
    expect(await signIn()).toMatchObject({ reason: "not_verified" });
    expect(provider.asked["/authorize"]).toBeUndefined();
  });

  test("an inner address that the deployment does not list is not dialled", async () => {
    let dialled = 0;
    const inner = createServer(() => dialled++).on("connection", () => dialled++);
    await new Promise<void>((done) => inner.listen(0, "127.0.0.1", done));
    const { port } = inner.address() as AddressInfo;
    const { port: own } = new URL(provider.issuer);
    const narrow = await openFront(async () => [settingOf({ issuer: provider.issuer })], {
      outgoing: { allow: [`127.0.0.1:${own}`], proxy: "" },
    });
    provider.conduct.discovery = (document) => ({ ...document, token_endpoint: `http://127.0.0.1:${port}/token` });
    await new Browser().open(narrow.startOf("corp"));
    expect(narrow.ended.at(-1)).toMatchObject({ reason: "provider_unavailable" });
    expect(dialled).toBe(0);
    expect(narrow.logged.join("")).toContain("OUTGOING_ALLOW");
    expect((narrow.ended.at(-1) as RefusedSignIn).problem).not.toContain("127.0.0.1");
    await narrow.close();
    await new Promise((done) => inner.close(done));
  });

  test("the outage of one provider does not stop another one", async () => {
    const second = await startFakeProvider(SECRET);
    second.conduct.person = { sub: "ana", email: "ana@corp.example", email_verified: true };
    const both = await openFront(
      async () => [
        settingOf({ issuer: provider.issuer }),
        settingOf({ issuer: second.issuer, id: "second", label: "Second" }),
      ],
      { answerMs: 3_000 },
    );
    await both.addUser({ login: "ana@corp.example" });
    provider.conduct.answers[DISCOVERY] = () => undefined;
    const hanging = Array.from({ length: 40 }, () => both.federation.begin("corp", { returnTo: "/team/oauth/a" }));
    const begun = performance.now();
    await new Browser().open(both.startOf("second"));
    expect(both.ended.at(-1)).toMatchObject({ user: { login: "ana@corp.example" } });
    expect(performance.now() - begun).toBeLessThan(2_500);
    const refused = await Promise.all(hanging);
    expect(refused.every((one) => "reason" in one && one.reason === "provider_unavailable")).toBe(true);
    expect(provider.asked[DISCOVERY]).toBe(1);
    await both.close();
    await second.close();
  });

  test("it is asked again once it answers", async () => {
    provider.conduct.answers[DISCOVERY] = (response) => void response.writeHead(500).end();
    expect(await signIn()).toMatchObject({ reason: "provider_unavailable" });
    expect((await signIn()) as RefusedSignIn).toMatchObject({ reason: "provider_unavailable" });
    expect(provider.asked[DISCOVERY]).toBe(1);
    delete provider.conduct.answers[DISCOVERY];
    await expect.poll(signIn, { timeout: 8_000, interval: 500 }).toMatchObject({ user: { login: "ana@corp.example" } });
  });
});

test("metadata and keys are kept", async () => {
  for (let n = 0; n < 3; n++) expect(await signIn()).toHaveProperty("user");
  expect(provider.asked).toMatchObject({ "/.well-known/openid-configuration": 1, "/jwks": 1, "/token": 3 });
});

test("a public client proves itself by PKCE alone", async () => {
  const open = await startFakeProvider(undefined);
  open.conduct.person = provider.conduct.person;
  const pages = await openFront(async () => [settingOf({ issuer: open.issuer, clientSecret: undefined })]);
  await pages.addUser({ login: "ana@corp.example" });
  await new Browser().open(pages.startOf("corp"));
  expect(pages.ended.at(-1)).toHaveProperty("user");
  await pages.close();
  await open.close();
});
