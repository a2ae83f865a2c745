import type { DescService } from "@bufbuild/protobuf";
import { timestampDate } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { AuditService } from "#proto/auth/v1/audit_service_pb.js";
import { ConnectionKind, ConnectionService } from "#proto/auth/v1/connection_service_pb.js";
import { SessionService } from "#proto/auth/v1/session_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { post } from "../support/mcp.js";
import { Browser } from "../support/oauth/browser.js";
import { allow, authorizeUrl, connectByHand, redeem, refresh, register } from "../support/oauth/by-hand.js";
import { claimsOf } from "../support/oauth/client-state.js";
import { OWN_PASSWORD, personAt } from "../support/oauth/person.js";
import { type Program, startProgram } from "../support/program.js";

// People sign in at a browser, see what calls in their name, and end it.

let program: Program;
let base: string;
beforeAll(async () => {
  program = await startProgram();
  base = program.baseUrl;
});
afterAll(() => program?.stop());

function as<S extends DescService>(service: S, apiKey: string) {
  return connectClient(service, { baseUrl: `${base}/rpc`, apiKey, httpVersion: "1.1", retries: 0 });
}
const statusOf = async (token: string, server = "cti") =>
  (await post(`${base}/mcp/${server}`, token, "tools/list")).status;

/** A person of this test's own. */
async function newPerson(name: string): Promise<{ email: string; password: string; api_key: string; id: string }> {
  const { admin } = program.bootstrap;
  const email = `${name}@sallyport.example`;
  const { user } = await as(UserService, admin.api_key).createUser({
    email,
    name,
    password: "chosen by an administrator",
  });
  const id = user?.id as string;
  const { token } = await as(ApiKeyService, admin.api_key).createApiKey({ userId: id, name: "Their key" });
  const browser = new Browser({
    email,
    password: "chosen by an administrator",
    current: "chosen by an administrator",
    next: OWN_PASSWORD,
    answer: "allow",
    write: "yes",
  });
  await allow(await register(base), "cti", browser);
  return { email, password: OWN_PASSWORD, api_key: token, id };
}

test("the first sign-in of the first administrator asks for another password; their key works on", async () => {
  const { email, password, api_key: key } = program.bootstrap.admin;
  const fields = { email, password, current: password, next: OWN_PASSWORD, answer: "allow", write: "yes" };
  const browser = new Browser(fields);
  const connected = await connectByHand(base, "cti", browser);
  expect(browser.pages.map((page) => /<h1>([^<]+)/.exec(page)?.[1])).toEqual([
    "Sign in",
    "Choose a new password",
    "Connect Test client?",
  ]);
  expect(await statusOf(connected.tokens.access_token)).toBe(200);
  expect(await statusOf(key)).toBe(200);
  await expect(connectByHand(base, "cti", new Browser(fields))).rejects.toThrow("the password is wrong");
  await connectByHand(base, "cti", personAt({ ...program.bootstrap.admin }));
});

test.each([
  ["the old one", OWN_PASSWORD, "is the old one"],
  ["a short one", "elevenchars", "at least 12"],
  ["a common one", "password12345", "too easy"],
  ["a row of the keyboard", "qwertyuiopas", "too easy"],
  ["one word over and over", "secretsecret", "too easy"],
])("%s is not taken for a new password", async (name, next, said) => {
  const person = await newPerson(`new-${name.replaceAll(" ", "-")}`);
  const changing = as(SessionService, person.api_key).changePassword({
    currentPassword: person.password,
    newPassword: next,
  });
  await expect(changing).rejects.toThrow(said);
});

test("who guesses waits; the owner's browser does not", async () => {
  const person = await newPerson("guessed");
  const client = await register(base);
  const own = personAt(person);
  await allow(client, "cti", own);
  const guess = async (email: string) => {
    const browser = new Browser({ email, password: "wrong wrong wrong" });
    const begun = performance.now();
    const said = await browser
      .follow(authorizeUrl(client, { resource: `${base}/mcp/cti` }), client.callback)
      .catch(String);
    return { said: String(said), ms: performance.now() - begun };
  };
  for (let i = 0; i < 5; i++) expect((await guess(person.email)).said).toContain("is wrong");
  expect((await guess(person.email)).said).toMatch(/try again in (a second|2 seconds)/);
  // Nobody learns so who has an account.
  for (let i = 0; i < 5; i++) expect((await guess("nobody@sallyport.example")).said).toContain("is wrong");
  expect((await guess("nobody@sallyport.example")).said).toMatch(/try again in/);
  // The owner goes on, signed in or not, in the browser that they used before.
  await allow(client, "cti", own);
  await as(SessionService, person.api_key).signOutEverywhere({});
  await allow(client, "cti", own);
  expect(own.pages.filter((page) => page.includes("<h1>Sign in"))).toHaveLength(2);
});

test("a person sees what calls in their name, with its last use within a second, and ends it", async () => {
  const person = await newPerson("connected");
  const connected = await connectByHand(base, "grc", personAt(person));
  const mine = as(ConnectionService, person.api_key);
  await post(`${base}/mcp/grc`, connected.tokens.access_token, "tools/list");
  const used = Date.now();
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const { connections } = await mine.listConnections({});
  const gid = claimsOf(connected.tokens.access_token).gid as string;
  const grant = connections.find(({ id }) => id === gid);
  expect(grant).toMatchObject({
    kind: ConnectionKind.GRANT,
    name: "Test client",
    server: "grc",
    scopes: ["grc:read", "grc:write"],
    userEmail: person.email,
    uses: 1n,
  });
  expect(Math.abs(timestampDate(grant?.lastUsedAt as never).getTime() - used)).toBeLessThan(1_000);
  expect(connections.map(({ kind }) => kind)).toContain(ConnectionKind.API_KEY);
  // The newest first.
  const made = connections.map(({ createdAt }) => timestampDate(createdAt as never).getTime());
  expect(made).toEqual([...made].sort((a, b) => b - a));

  // Nobody else's business, but an administrator's.
  const other = as(ConnectionService, program.bootstrap.analyst.api_key);
  await expect(other.endConnection({ id: gid })).rejects.toThrow("no connection that you can manage");
  await expect(other.listConnections({ userId: person.id })).rejects.toThrow("only administrators");
  await expect(other.listConnections({ everybody: true })).rejects.toThrow("only administrators");
  const all = await as(ConnectionService, program.bootstrap.admin.api_key).listConnections({
    everybody: true,
    pageSize: 100,
  });
  expect(all.connections.some(({ id }) => id === gid)).toBe(true);
  const found: string[] = [];
  for (let pageToken = ""; ; ) {
    const page = await as(ConnectionService, program.bootstrap.admin.api_key).listConnections({
      everybody: true,
      pageSize: 3,
      pageToken,
    });
    found.push(...page.connections.map(({ id }) => id));
    pageToken = page.nextPageToken;
    if (pageToken === "") break;
  }
  expect(found).toEqual(all.connections.map(({ id }) => id));

  await mine.endConnection({ id: gid });
  expect(await statusOf(connected.tokens.access_token, "grc")).toBe(401);
  expect((await refresh(connected, connected.tokens.refresh_token)).body.error).toBe("invalid_grant");
  expect((await mine.listConnections({})).connections.some(({ id }) => id === gid)).toBe(false);
});

test("a key that is narrowed sees and ends no other connection", async () => {
  const person = await newPerson("narrowed");
  const connected = await connectByHand(base, "cti", personAt(person));
  const { token } = await as(ApiKeyService, person.api_key).createApiKey({ name: "narrow", scopes: ["cti:read"] });
  const narrow = as(ConnectionService, token);
  expect((await narrow.listConnections({})).connections.map(({ name }) => name)).toEqual(["narrow"]);
  await expect(narrow.endConnection({ id: claimsOf(connected.tokens.access_token).gid as string })).rejects.toThrow(
    "limited scopes",
  );
  await expect(as(SessionService, token).signOutEverywhere({ connections: true })).rejects.toThrow("limited scopes");
  expect(await statusOf(connected.tokens.access_token)).toBe(200);
});

test("to sign out everywhere ends sessions, and connections and keys if asked for", async () => {
  const person = await newPerson("out");
  const browser = personAt(person);
  const connected = await connectByHand(base, "cti", browser);
  const sessions = as(SessionService, person.api_key);
  const before = await sessions.listSessions({});
  expect(before.sessions.length).toBeGreaterThanOrEqual(1);
  expect(await sessions.signOutEverywhere({})).toMatchObject({
    sessions: before.sessions.length,
    connections: 0,
    apiKeys: 0,
  });
  expect((await sessions.listSessions({})).sessions).toEqual([]);
  expect(await statusOf(connected.tokens.access_token)).toBe(200);
  const ended = await sessions.signOutEverywhere({ connections: true, apiKeys: true });
  expect(ended).toMatchObject({ sessions: 0, apiKeys: 1 });
  expect(ended.connections).toBeGreaterThanOrEqual(1);
  expect(await statusOf(connected.tokens.access_token)).toBe(401);
  expect(await statusOf(person.api_key)).toBe(401);
});

test.each(["disabled", "deleted"] as const)(
  "when a person is %s, their sessions, connections and keys end at once",
  async (how) => {
    const person = await newPerson(`leaver-${how}`);
    const browser = personAt(person);
    const connected = await connectByHand(base, "cti", browser);
    const waiting = await allow(await register(base), "cti", browser);
    const users = as(UserService, program.bootstrap.admin.api_key);
    if (how === "disabled") await users.updateUser({ id: person.id, disabled: true });
    else await users.deleteUser({ id: person.id });
    expect(await statusOf(connected.tokens.access_token)).toBe(401);
    expect(await statusOf(person.api_key)).toBe(401);
    expect((await refresh(connected, connected.tokens.refresh_token)).status).toBe(400);
    expect((await redeem(waiting)).status).toBe(400);
    await expect(allow(await register(base), "cti", browser)).rejects.toThrow("is wrong");
  },
);

test("the audit has sign-ins, connections, tokens and what was refused", async () => {
  const person = await newPerson("audited");
  const connected = await connectByHand(base, "cti", personAt(person));
  const gid = claimsOf(connected.tokens.access_token).gid as string;
  await refresh(connected, connected.tokens.refresh_token);
  await as(ConnectionService, person.api_key).endConnection({ id: gid });
  const wrong = new Browser({ email: person.email, password: "wrong wrong wrong" });
  await allow(await register(base), "cti", wrong).catch(() => undefined);
  const audit = as(AuditService, program.bootstrap.admin.api_key);
  await expect
    .poll(async () => {
      const { records } = await audit.listAuditRecords({ userEmail: person.email, pageSize: 100 });
      return records.map(({ action, outcome, target }) => `${action} ${outcome}${target === gid ? " of it" : ""}`);
    })
    .toEqual(
      expect.arrayContaining([
        "sign_in ok",
        "sign_in wrong_password",
        "connect ok of it",
        "issue_tokens ok of it",
        "auth.v1.ConnectionService/EndConnection ok of it",
      ]),
    );
});
