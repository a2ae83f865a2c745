// npm run test:keycloak: a real Keycloak signs people in. Its realm has people with groups, a client and a mapper; each
// person goes through its pages and redirects in a browser without a screen. Needs Java 17, Maven, unzip, and about a
// minute; the download stays in the user's cache, everything else is removed.

import assert from "node:assert/strict";
import { createRemoteJWKSet } from "jose";
import { createExternalTokens, ExternalTokenError } from "../../../services/auth/external/verify.js";
import { createFederation } from "../../../services/auth/federation/federation.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { Browser, type Page } from "../../services/auth/federation/browser.js";
import { type Front, openFront, settingOf } from "../../services/auth/federation/front.js";
import { SEAL } from "../../services/auth/stack.js";
import { call, post } from "../../support/mcp.js";
import { authorizeUrl, redeem, register } from "../../support/oauth/by-hand.js";
import { LOOPBACK } from "../../support/outgoing.js";
import { freePorts, startProgram } from "../../support/program.js";
import { type Keycloak, startKeycloak } from "./keycloak.js";
import { AUDIENCE, CLIENT_SECRET, PASSWORD, realmOf } from "./realm.js";

type Ended = Front["ended"][number];

interface Stage {
  readonly keycloak: Keycloak;
  readonly front: Front;
  /** Signs somebody in with a new browser. */
  signIn(username: string): Promise<Ended>;
}

/** Goes to Keycloak's form and fills it in. */
async function enter(front: Front, browser: Browser, username: string, until?: (url: URL) => boolean): Promise<Page> {
  const form = await browser.open(front.startOf("corp"));
  assert.match(form.text, /kc-form-login/, `a form at ${form.url}`);
  return browser.submit(form, { username, password: PASSWORD }, until);
}

/** What Keycloak's token endpoint gives to the client `cli`. */
async function tokensOf(issuer: string, asked: Record<string, string>): Promise<Record<string, string | undefined>> {
  const body = new URLSearchParams({ client_id: "cli", client_secret: CLIENT_SECRET, ...asked });
  const answer = await fetch(`${issuer}/protocol/openid-connect/token`, { method: "POST", body });
  assert.equal(answer.status, 200);
  return (await answer.json()) as Record<string, string | undefined>;
}

const reasonOf = (ended: Ended): string => ("reason" in ended ? ended.reason : "signed in");
const groupsOf = (ended: Ended): readonly string[] => ("user" in ended ? ended.user.groups : [reasonOf(ended)]);

/** What is shown, in order: later ones go on from what earlier ones left. */
const SHOWN: Readonly<Record<string, (stage: Stage) => Promise<void>>> = {
  async "a person with a verified address is linked to the user who has it, with the groups of the map"({
    front,
    signIn,
  }) {
    const ended = await signIn("ana");
    assert.ok("user" in ended, reasonOf(ended));
    assert.equal(ended.user.login, "ana@corp.example");
    assert.equal(ended.returnTo, "/team/oauth/interaction/one");
    assert.deepEqual(groupsOf(ended).toSorted(), ["group-own", "group-soc"]);
    assert.equal(await front.records.identities.countDocuments({}), 1);
  },
  async "a person who is nobody yet is created, with groups and no password"({ signIn }) {
    const ended = await signIn("bob");
    assert.ok("user" in ended, reasonOf(ended));
    const { login, name, admin, password_hash } = ended.user;
    assert.deepEqual([login, name, admin, password_hash], ["bob@corp.example", "bob of Corp", false, null]);
    assert.deepEqual(groupsOf(ended), ["group-analysts"]);
  },
  async "a group that is taken away at Keycloak is taken away here, one that is given is given, and others stay"({
    keycloak: { admin, userId, groupId },
    front,
    signIn,
  }) {
    const groups = `/users/${await userId("ana")}/groups`;
    await admin("DELETE", `${groups}/${await groupId("/soc")}`);
    await admin("DELETE", `${groups}/${await groupId("/soc/night")}`);
    await admin("PUT", `${groups}/${await groupId("/analysts")}`);
    const before = front.told.length;
    assert.deepEqual(groupsOf(await signIn("ana")).toSorted(), ["group-analysts", "group-own"]);
    assert.equal(front.told.length, before + 1, "other processes were told");
    for (const path of ["/analysts", "/cooks"]) await admin("DELETE", `${groups}/${await groupId(path)}`);
    assert.deepEqual(groupsOf(await signIn("ana")), ["group-own"]);
  },
  async "the group of administrators makes one, and losing it unmakes them"({ keycloak, signIn }) {
    const first = await signIn("carol");
    assert.ok("user" in first && first.user.admin, reasonOf(first));
    const { admin, userId, groupId } = keycloak;
    await admin("DELETE", `/users/${await userId("carol")}/groups/${await groupId("/admins")}`);
    const second = await signIn("carol");
    assert.ok("user" in second && !second.user.admin, reasonOf(second));
  },
  async "an address that Keycloak has not verified is refused, until it has"({ keycloak, front, signIn }) {
    assert.equal(reasonOf(await signIn("dan")), "email_not_verified");
    assert.equal(await front.records.users.countDocuments({ login: "dan@corp.example" }), 0);
    await keycloak.admin("PUT", `/users/${await keycloak.userId("dan")}`, { emailVerified: true });
    assert.equal(reasonOf(await signIn("dan")), "signed in");
  },
  async "an address of another domain is refused"({ signIn }) {
    assert.equal(reasonOf(await signIn("erin")), "email_of_other_domain");
  },
  async "a user who is disabled here is refused"({ front, signIn }) {
    await front.addUser({ login: "frank@corp.example", disabled: true });
    assert.equal(reasonOf(await signIn("frank")), "user_disabled");
  },
  async "a person who is disabled at Keycloak does not come back from it"({ front }) {
    const before = front.ended.length;
    const page = await enter(front, new Browser(), "grace");
    assert.match(page.text, /disabled/i);
    assert.equal(front.ended.length, before);
  },
  async "another address at Keycloak does not make another user, and somebody else gets nothing by the old one"({
    keycloak: { admin, userId },
    signIn,
  }) {
    await admin("PUT", `/users/${await userId("ana")}`, { email: "ana.married@corp.example", emailVerified: true });
    const ended = await signIn("ana");
    assert.ok("user" in ended && ended.user.login === "ana@corp.example", reasonOf(ended));
    await admin("POST", "/users", {
      ...{ username: "other", email: "ana@corp.example", emailVerified: true, enabled: true },
      ...{ firstName: "Other", lastName: "Ana", credentials: [{ type: "password", value: PASSWORD }] },
    });
    assert.equal(reasonOf(await signIn("other")), "linked_to_another");
  },
  async "a callback is good once, and in its own browser"({ front }) {
    const browser = new Browser();
    const isCallback = ({ pathname }: URL): boolean => pathname.endsWith("/callback");
    const { url } = await enter(front, browser, "bob", isCallback);
    assert.ok(isCallback(url), `at ${url}`);
    await new Browser().open(url);
    assert.equal(reasonOf(front.ended.at(-1) as Ended), "other_browser");
    const cookies = browser.cookiesFor(url);
    await browser.open(url);
    assert.equal(reasonOf(front.ended.at(-1) as Ended), "signed in");
    assert.equal(reasonOf(await front.federation.finish(`${url.pathname}${url.search}`, cookies)), "used");
  },
  async "no secret and no token is in the log"({ front }) {
    const log = front.logged.join("");
    for (const secret of [CLIENT_SECRET, PASSWORD, "eyJ"]) assert.ok(!log.includes(secret));
  },
  async "its access tokens are good at the server that they name, its other tokens nowhere"({ keycloak: { issuer } }) {
    const { access_token, id_token, refresh_token } = await tokensOf(issuer, {
      ...{ grant_type: "password", username: "bob", password: PASSWORD, scope: "openid" },
    });
    const program = await tokensOf(issuer, { grant_type: "client_credentials" });
    const tokens = createExternalTokens(
      {
        ...{ issuer, vendor: "keycloak", algorithms: ["RS256"], audiences: new Map(), maxLifeS: 600 },
        ...{ emailClaim: "email", emailVerifiedClaim: "email_verified" },
        keys: createRemoteJWKSet(new URL(`${issuer}/protocol/openid-connect/certs`)),
      },
      ["cti", "core"].map((server) => ({ server, url: AUDIENCE.replace("cti", server) })),
    );
    const { clientId, person, scopes, server } = await tokens.verify(access_token ?? "");
    assert.equal(server, "cti");
    assert.deepEqual([clientId, person.email, person.emailVerified], ["cli", "bob@corp.example", true]);
    assert.ok(scopes.includes("openid"));
    for (const other of [id_token, refresh_token, program.access_token])
      await assert.rejects(tokens.verify(other ?? ""), ExternalTokenError);
  },
  async "in the built program a client's person signs in there, and the client calls"({ keycloak: { issuer, admin } }) {
    const [port = 0] = await freePorts(1);
    const base = `http://127.0.0.1:${port}`;
    const [registered] = await admin<{ id: string }[]>("GET", "/clients?clientId=sallyport");
    const redirectUris = [`${base}/oauth/federation/corp/callback`];
    await admin("PUT", `/clients/${registered?.id}`, { ...registered, redirectUris });
    const corp = {
      ...{ id: "corp", label: "Corp", issuer, client_id: "sallyport", client_secret: CLIENT_SECRET },
      ...{ email_domains: ["corp.example"], creates_users: true, scopes: ["profile"] },
    };
    const program = await startProgram({
      env: { PORT: String(port), BASE_URL: base, SIGN_IN_PROVIDERS: JSON.stringify([corp]) },
    });
    try {
      const client = await register(base);
      const [verifier, resource] = ["v".repeat(43), `${base}/mcp/core`];
      const browser = new Browser();
      const page = await browser.open(authorizeUrl(client, { resource }, verifier));
      const href = /href="([^"]+)">Sign in with Corp</.exec(page.text)?.[1] ?? "";
      const form = await browser.open(new URL(href.replaceAll("&#38;", "&"), base));
      const consent = await browser.submit(form, { username: "bob", password: PASSWORD });
      assert.match(consent.text, /bob@corp\.example/);
      const isBack = ({ href }: URL): boolean => href.startsWith(client.callback);
      const { url } = await browser.submit(consent, { answer: "allow", write: "yes" }, isBack);
      const code = url.searchParams.get("code") as string;
      const { body } = await redeem({ ...client, code, verifier, resource });
      assert.ok("agents" in (await call(resource, body.access_token as string, "list_agents")));
    } finally {
      await program.stop();
    }
  },
  async "as the only authorization server its access tokens are taken by the built program, and its other tokens not"({
    keycloak: { issuer },
  }) {
    const external = {
      ...{ issuer, vendor: "keycloak", email_domains: ["corp.example"], creates_users: true },
      scopes: { profile: ["cti:read"] },
    };
    const [port = 0] = await freePorts(1);
    const program = await startProgram({
      env: {
        PORT: String(port),
        BASE_URL: new URL(AUDIENCE).origin,
        EXTERNAL_AUTHORIZATION_SERVER: JSON.stringify(external),
      },
    });
    try {
      const statusOf = async (token: string | undefined, server = "cti") =>
        (await post(`http://127.0.0.1:${port}/mcp/${server}`, token ?? "", "tools/list")).status;
      const asked = { grant_type: "password", username: "bob", password: PASSWORD, scope: "openid profile" };
      const { access_token, id_token, refresh_token } = await tokensOf(issuer, asked);
      const { access_token: ofProgram } = await tokensOf(issuer, { grant_type: "client_credentials" });
      assert.equal(await statusOf(access_token), 200);
      for (const server of ["aev", "grc", "core"]) assert.equal(await statusOf(access_token, server), 401);
      for (const token of [id_token, refresh_token, ofProgram]) assert.equal(await statusOf(token), 401);
    } finally {
      await program.stop();
    }
  },
  async "without Keycloak a person reads that it does not answer"({ keycloak, front }) {
    await keycloak.stop();
    const { context, base: baseUrl } = front;
    const providers = [settingOf({ issuer: keycloak.issuer })];
    const fresh = createFederation({ context, providers, baseUrl, seal: SEAL, outgoing: LOOPBACK, log: silentLog });
    const begun = await fresh.begin("corp", { returnTo: "/team/oauth/a" });
    await fresh.close();
    assert.ok("problem" in begun);
    assert.equal(begun.problem, "Corp does not answer now. Try again in a minute, or sign in with your password.");
  },
};

let keycloak: Keycloak | undefined;
const front = await openFront(async (base) => {
  console.log("starting Keycloak");
  keycloak = await startKeycloak(realmOf(`${base}/oauth/federation/corp/callback`));
  return [
    settingOf({
      ...{ issuer: keycloak.issuer, clientSecret: CLIENT_SECRET, createsUsers: true, scopes: ["profile"] },
      groups: new Map([
        ["/soc", "SOC"],
        ["/soc/night", "SOC"],
        ["/analysts", "Analysts"],
      ]),
      administrators: "/admins",
    }),
  ];
});
let failed = 0;
try {
  for (const name of ["SOC", "Analysts", "Own"]) await front.addGroup(name);
  await front.addUser({ login: "ana@corp.example", groups: ["group-own"] });
  await front.addUser({ login: "local@corp.example", admin: true, password_hash: "a hash" });
  const stage: Stage = {
    keycloak: keycloak as Keycloak,
    front,
    async signIn(username) {
      await enter(front, new Browser(), username);
      return front.ended.at(-1) as Ended;
    },
  };
  for (const [name, show] of Object.entries(SHOWN)) {
    try {
      await show(stage);
      console.log(`ok    ${name}`);
    } catch (error) {
      failed++;
      console.log(`FAIL  ${name}\n${(error as Error).stack}`);
    }
  }
} finally {
  await front.close();
  await keycloak?.stop();
}
console.log(failed === 0 ? "all shown" : `${failed} failed`);
process.exitCode = failed === 0 ? 0 : 1;
