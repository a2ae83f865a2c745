import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session, Target } from "../../../../../services/platform-proxy/adapter.js";
import { createHttpClient, type HttpClient } from "../../../../../services/platform-proxy/lib/http.js";
import { isLeftOpen } from "../../../../../services/platform-proxy/lib/outcome.js";
import { capabilitiesOf, createOpenaevAdapter } from "../../../../../services/platform-proxy/platforms/aev/adapter.js";
import type { OpenaevMe } from "../../../../../services/platform-proxy/platforms/aev/me.js";
import { type AevSandbox, startSandbox } from "../../../../../services/sandbox/aev/server.js";
import { SECOND_TENANT } from "../../../../../services/sandbox/aev/world.js";
import { LOOPBACK } from "../../../../support/outgoing.js";
import { emailOf } from "../../../../support/platforms/harness.js";
import { type Issuer, startIssuer } from "../../../../support/platforms/issuer.js";
import { refusal } from "../../../../support/platforms/refusal.js";

const adapter = createOpenaevAdapter();
const read = <Body>(session: Session, path: string) =>
  adapter.rest?.<Body>(session, { verb: "GET", path }) as Promise<Body>;
let issuer: Issuer;
let sandbox: AevSandbox;
let http: HttpClient;

beforeAll(async () => {
  issuer = await startIssuer();
  sandbox = await startSandbox({ host: "127.0.0.1", port: 0, trust: issuer.url });
  http = createHttpClient("sallyport/test", LOOPBACK);
});
afterAll(async () => {
  await http.close();
  await sandbox.close();
  await issuer.close();
});

function sessionOf(person: string, more: Partial<Session> = {}, url = sandbox.url): Session {
  const target: Target = { server: "aev", url, publicUrl: sandbox.url, auth: "bearer", clientId: "" };
  const caller = {
    id: person,
    email: emailOf(person),
    name: person,
    admin: false,
    groups: [],
    scopes: new Set<string>(),
    keyId: "",
    service: false,
  };
  return {
    caller,
    target,
    signal: new AbortController().signal,
    deadline: undefined,
    traceparent: undefined,
    tool: "Test",
    http,
    token: () => issuer.sign({ aud: sandbox.url, email: caller.email }),
    ...more,
  };
}

/** A platform that answers everything alike, and remembers what it was sent. */
async function startAnswering(status: number, body: string) {
  const seen: { cookie: string | undefined; authorization: string | undefined }[] = [];
  const server = createServer((request, response) => {
    const { cookie, authorization } = request.headers;
    seen.push({ cookie, authorization });
    response.writeHead(status, { "content-type": "application/json", "set-cookie": "JSESSIONID=1; Path=/" }).end(body);
  });
  await new Promise<void>((ready) => server.listen(0, "127.0.0.1", ready));
  return {
    seen,
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () => new Promise<void>((done) => server.close(() => done())),
  };
}

test("the platform says who is calling and in which tenants", async () => {
  const { email, me } = await adapter.whoAmI(sessionOf("outsider"));
  expect(email).toBe("outsider@sallyport.example");
  expect((me as OpenaevMe).tenants.map(({ tenant_id }) => tenant_id)).toEqual([SECOND_TENANT]);
});

test("an account that the platform does not know is told the likely reasons", async () => {
  const error = await refusal(adapter.whoAmI(sessionOf("stranger")));
  expect(error.code).toBe(Code.PermissionDenied);
  for (const word of ["stranger@sallyport.example", "clock", "address"]) expect(error.rawMessage).toContain(word);
});

test("a token refused on its way is replaced by a fresh one, once", async () => {
  const asked: boolean[] = [];
  const session = sessionOf("analyst", {
    async token(fresh = false) {
      asked.push(fresh);
      return fresh ? issuer.sign({ aud: sandbox.url, email: emailOf("analyst") }) : "ey.old.token";
    },
  });
  expect(await read(session, "/api/me/tenants")).toHaveLength(1);
  expect(asked).toEqual([false, true]);
});

test("no cookie that the platform sets is ever sent back", async () => {
  const platform = await startAnswering(200, "{}");
  const session = sessionOf("analyst", {}, platform.url);
  await read(session, "/api/a");
  await read(session, "/api/b");
  expect(platform.seen.map(({ cookie }) => cookie)).toEqual([undefined, undefined]);
  expect(platform.seen.every(({ authorization }) => authorization?.startsWith("Bearer ey"))).toBe(true);
  await platform.close();
});

test("the platform's audit names the caller and our tool", async () => {
  await read(sessionOf("analyst"), "/api/me");
  expect(sandbox.audit.at(-1)).toMatchObject({
    email: "analyst@sallyport.example",
    userAgent: "sallyport/test (mcp; tool=Test)",
  });
});

const SQL = "insert into findings (tenant_id) values (?)";
const bare = (status: number) => JSON.stringify({ timestamp: "", status, error: "x", path: "/api/secret" });

test.each([
  [
    400,
    JSON.stringify({
      code: 400,
      message: "Validation Failed",
      errors: { children: { scenario_name: { errors: ["This value should not be blank."] } } },
    }),
    Code.InvalidArgument,
    "name: this value should not be blank",
  ],
  [
    400,
    JSON.stringify({ id: "1", message: "This path is not handled by Queryable annotation: nope" }),
    Code.InvalidArgument,
    "search or sort",
  ],
  [400, bare(400), Code.InvalidArgument, "did not say which"],
  [401, "", Code.PermissionDenied, "no account has this e-mail address"],
  [403, bare(403), Code.PermissionDenied, "own rights"],
  [403, JSON.stringify({ id: "1", message: "TENANT_ACCESS_DENIED" }), Code.PermissionDenied, "member of that tenant"],
  [404, JSON.stringify({ id: "1", message: "Element not found: null" }), Code.NotFound, "does not have this object"],
  [405, bare(405), Code.Unimplemented, "does not know this operation"],
  [
    409,
    JSON.stringify({ type: "ConstraintViolationException", message: "m", error: SQL }),
    Code.AlreadyExists,
    "conflicts with an existing object",
  ],
  [429, "", Code.ResourceExhausted, "rate limit"],
  [302, "", Code.Unavailable, "redirects"],
])("a %i with the body %s is told in the caller's words", async (status, body, code, words) => {
  const platform = await startAnswering(status, body);
  const error = await refusal(read(sessionOf("analyst", {}, platform.url), "/api/secret"));
  expect(error.code).toBe(code);
  expect(error.rawMessage).toContain(words);
  for (const inside of ["insert into", "Queryable", "/api/secret", "Element not found"]) {
    expect(error.rawMessage).not.toContain(inside);
  }
  await platform.close();
});

test("a failure at a write says that the change may have been made, one at a read does not", async () => {
  const platform = await startAnswering(500, bare(500));
  const session = sessionOf("analyst", {}, platform.url);
  const write = await refusal(
    adapter.rest?.(session, { verb: "POST", path: "/api/scenarios", body: {} }) as Promise<unknown>,
  );
  expect(isLeftOpen(write)).toBe(true);
  const search = await refusal(
    adapter.rest?.(session, { verb: "POST", path: "/api/scenarios/search", body: {}, read: true }) as Promise<unknown>,
  );
  expect(search.rawMessage).not.toContain("may have been made");
  expect(platform.seen).toHaveLength(2);
  await platform.close();
});

test("a platform is probed without acting as anybody", async () => {
  const { target, signal } = sessionOf("analyst");
  expect(await adapter.probe(http, target, signal)).toBeUndefined();
  expect(sandbox.audit.at(-1)).toMatchObject({ email: "", path: "/api/settings/public" });
  const platform = await startAnswering(404, "");
  expect(await adapter.probe(http, { ...target, url: platform.url }, signal)).toContain("404");
  await platform.close();
  expect(await adapter.probe(http, { ...target, url: platform.url }, signal)).toContain("cannot be reached");
});

const capabilitiesAs = async (person: string) => {
  const session = sessionOf(person);
  const { me } = await adapter.whoAmI(session);
  return (await adapter.snapshot(session, me)).capabilities;
};

test("a snapshot holds the platform's version, and the caller's capabilities", async () => {
  const session = sessionOf("analyst");
  const { me } = await adapter.whoAmI(session);
  expect(await adapter.snapshot(session, me)).toMatchObject({ version: "2.4.0", edition: "community" });
  const analyst = await capabilitiesAs("analyst");
  expect(analyst).toEqual(expect.arrayContaining(["ACCESS_FINDINGS", "CREATE_ASSESSMENT", "LAUNCH_ASSESSMENT"]));
  expect(analyst).not.toContain("DELETE_ASSESSMENT");
  expect(await capabilitiesAs("admin")).toEqual(["*"]);
});

test("a grant stands for what it allows on its object, which is never creating", async () => {
  expect(await capabilitiesAs("nobody")).toEqual([]);
  expect(await capabilitiesAs("observer")).toEqual(["ACCESS_ASSESSMENT", "ACCESS_PAYLOADS", "SEARCH_FINDINGS"]);
  expect(await capabilitiesAs("granted")).toEqual([
    "ACCESS_ASSESSMENT",
    "ACCESS_PAYLOADS",
    "DELETE_ASSESSMENT",
    "DELETE_PAYLOADS",
    "MANAGE_ASSESSMENT",
    "MANAGE_PAYLOADS",
    "SEARCH_FINDINGS",
  ]);
});

test("of a caller outside the default tenant the platform tells nothing, so nothing is hidden", async () => {
  expect(await capabilitiesAs("outsider")).toEqual(["*"]);
});

test("capabilities imply no others, and the one that stands for all is told as such", () => {
  const user = {
    user_id: "1",
    user_email: "a@b.example",
    user_firstname: null,
    user_lastname: null,
    user_capabilities: ["DELETE_ASSESSMENT", "MANAGE_ASSETS"],
    user_grants: {},
    user_admin: false,
    user_is_admin_or_bypass: false,
  };
  expect(capabilitiesOf({ user, tenants: [] })).toEqual(["DELETE_ASSESSMENT", "MANAGE_ASSETS"]);
  const launcher = { ...user, user_capabilities: [], user_grants: { "1": "LAUNCHER" } };
  expect(capabilitiesOf({ user: launcher, tenants: [] })).toContain("LAUNCH_ASSESSMENT");
  expect(capabilitiesOf({ user: { ...user, user_capabilities: ["BYPASS"] }, tenants: [] })).toEqual(["*"]);
});
