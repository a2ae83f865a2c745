import { createHash } from "node:crypto";
import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { Browser } from "../support/oauth/browser.js";
import { allow, authorizeUrl, connectByHand, redeem, refresh, register } from "../support/oauth/by-hand.js";
import { nativeClient } from "../support/oauth/client-state.js";
import { OWN_PASSWORD, personAt, settleIn } from "../support/oauth/person.js";
import { CERTIFICATE_FILE, serveTls, type TlsServer } from "../support/oauth/tls.js";
import { type Program, startProgram } from "../support/program.js";

// Attacks on authorization servers of MCP that others have published or met, and
// what our storage gives away. Sources are named at each test.

const CALLBACK = "http://127.0.0.1:41999/callback";
let program: Program;
let closed: Program;
let base: string;
let documents: TlsServer;
/** What the document server answers, by path. */
const served = new Map<string, () => { status?: number; headers?: Record<string, string>; body: string }>();
const asked: string[] = [];

beforeAll(async () => {
  documents = await serveTls((request, response) => {
    asked.push(request.url ?? "");
    const answer = served.get(request.url ?? "")?.();
    response.writeHead(answer?.status ?? (answer ? 200 : 404), {
      "content-type": "application/json",
      ...answer?.headers,
    });
    response.end(answer?.body ?? "");
  });
  const env = { NODE_EXTRA_CA_CERTS: CERTIFICATE_FILE };
  program = await startProgram({ env, keepData: true });
  closed = await startProgram({ env: { ...env, OUTGOING_ALLOW: "" } });
  base = program.baseUrl;
  await settleIn(program, program.bootstrap.analyst);
  await settleIn(program, program.bootstrap.admin);
});
afterAll(async () => {
  await program?.stop();
  program?.forget();
  await closed?.stop();
  await documents?.close();
});

const person = () => personAt(program.bootstrap.analyst);
const resource = () => `${base}/mcp/cti`;
const documentAt = (path: string): string => `https://localhost:${documents.port}${path}`;

function serveDocument(path: string, more: object = {}): string {
  const client_id = documentAt(path);
  served.set(path, () => ({ body: JSON.stringify({ ...nativeClient(CALLBACK), client_id, ...more }) }));
  return client_id;
}

/** Goes as far as the consent page, and gives its form. */
async function atConsent(browser: Browser, clientId: string, more: Record<string, string> = {}) {
  let url = authorizeUrl({ base, clientId, callback: CALLBACK }, { resource: resource(), ...more });
  for (let hop = 0; hop < 10; hop++) {
    const reply = await browser.fetch(url);
    const location = reply.headers.get("location");
    if (location !== null) {
      url = new URL(location, url);
      if (url.href.startsWith(CALLBACK)) throw new Error(`went on to ${url.search}`);
      continue;
    }
    const page = await reply.text();
    const action = new URL(/<form method="post" action="([^"]+)"/.exec(page)?.[1] ?? "about:blank", url);
    if (page.includes("<h1>Connect")) return { page, action, form: browser.filledIn(page), headers: reply.headers };
    const posted = await browser.fetch(action, browser.filledIn(page));
    url = new URL(posted.headers.get("location") as string, action);
  }
  throw new Error("no consent page");
}

const grantsOf = async (browser: Browser, clientId: string): Promise<string> => {
  const reply = await browser.fetch(
    authorizeUrl({ base, clientId, callback: CALLBACK }, { resource: resource(), prompt: "none" }),
  );
  return reply.headers.get("location") ?? "";
};

test("a consent given to one client document is none for another (GHSA-6x8h-498w-gv8c)", async () => {
  const browser = person();
  const first = serveDocument("/first.json", { client_name: "Known client" });
  await allow({ base, clientId: first, callback: CALLBACK }, "cti", browser);
  const second = serveDocument("/second.json", { client_name: "Known client" });
  const { page } = await atConsent(browser, second);
  expect(page).toContain(`<b>localhost:${documents.port}</b>`);
  // Nor for the same one: nothing is remembered.
  await atConsent(browser, first);
});

test("no authorization goes through without the page, whatever is asked for (CVE-2026-27124)", async () => {
  const browser = person();
  const { clientId } = await register(base);
  await allow({ base, clientId, callback: CALLBACK }, "cti", browser);
  expect(await grantsOf(browser, clientId)).toMatch(/error=(?:login|consent|interaction)_required/);
});

test("a form that another site sends is refused, and the person is not bound by it", async () => {
  const browser = person();
  const { clientId } = await register(base);
  const { action, form } = await atConsent(browser, clientId);
  for (const headers of [
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site" },
    { origin: "https://evil.test" },
    { origin: "null" },
  ]) {
    const reply = await browser.fetch(action, form, headers);
    expect({ headers, status: reply.status, location: reply.headers.get("location") }).toEqual({
      headers,
      status: 400,
      location: null,
    });
  }
  // And the real one still goes through.
  expect((await browser.fetch(action, form)).status).toBe(303);
});

test("the mark of a form is of its own page: another interaction's, another's or none is refused", async () => {
  const browser = person();
  const { clientId } = await register(base);
  const first = await atConsent(browser, clientId);
  const second = await atConsent(browser, clientId);
  const marked = (csrf: string) => new URLSearchParams({ answer: "allow", write: "yes", csrf });
  for (const csrf of [first.form.get("csrf") as string, "", "x".repeat(43), "é".repeat(43)]) {
    expect((await browser.fetch(second.action, marked(csrf))).status).toBe(400);
  }
  // A page may be loaded twice.
  const again = await (await browser.fetch(second.action)).text();
  expect((await browser.fetch(second.action, browser.filledIn(again))).status).toBe(303);
});

test("a page of one browser is nobody else's: a link to it leads nowhere (session fixation)", async () => {
  const mallory = personAt(program.bootstrap.admin);
  const { clientId } = await register(base);
  const { action, form } = await atConsent(mallory, clientId);
  const victim = person();
  const page = await (await victim.fetch(action)).text();
  expect(page).toContain("opened in another browser");
  expect((await victim.fetch(action, form)).status).toBe(400);
});

test("allowing by a link does nothing", async () => {
  const browser = person();
  const { clientId } = await register(base);
  const { action, form } = await atConsent(browser, clientId);
  action.search = form.toString();
  const reply = await browser.fetch(action);
  expect([reply.status, reply.headers.get("location")]).toEqual([200, null]);
});

test("a client's name is text, and the pages let no script run and no site frame them", async () => {
  const { clientId } = await register(
    base,
    nativeClient(CALLBACK, { client_name: "<script>alert(1)</script><b x='\"" }),
  );
  const { page, headers } = await atConsent(person(), clientId);
  expect(page).not.toContain("<script>");
  expect(page).toContain("&#60;script&#62;alert(1)");
  const policy = headers.get("content-security-policy");
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain(`form-action 'self' ${new URL(CALLBACK).origin}`);
  expect(headers.get("x-frame-options")).toBe("DENY");
  expect(headers.get("cache-control")).toBe("no-store");
  expect(headers.get("referrer-policy")).toBe("same-origin");
});

test.each([
  ["another host", "https://evil.test/callback"],
  ["another path", "http://127.0.0.1:41999/other"],
  ["a longer path", "http://127.0.0.1:41999/callback/../x"],
  ["another name of this machine", "http://localhost:41999/callback"],
  ["a user in front", "http://127.0.0.1:41999@evil.test/callback"],
  ["a fragment", "http://127.0.0.1:41999/callback#x"],
])("a redirect to %s is an error here, and no redirect", async (_name, callback) => {
  const { clientId } = await register(base);
  const reply = await person().fetch(authorizeUrl({ base, clientId, callback }, { resource: resource() }));
  expect([reply.status, reply.headers.get("location")]).toEqual([400, null]);
});

test("a program on this machine may listen at another port each time", async () => {
  const { clientId } = await register(base);
  const browser = person();
  await allow({ base, clientId, callback: "http://127.0.0.1:52345/callback" }, "cti", browser);
});

test.each(["client_id", "redirect_uri", "code_challenge", "state", "response_type"])(
  "%s given twice is refused",
  async (name) => {
    const { clientId } = await register(base);
    const url = authorizeUrl({ base, clientId, callback: CALLBACK }, { resource: resource() });
    url.searchParams.append(name, url.searchParams.get(name) as string);
    const reply = await person().fetch(url);
    expect(reply.headers.get("location") ?? "error=").toContain("error=");
  },
);

test("the addresses that are given away are ours, whatever host a request names", async () => {
  const { clientId } = await register(base);
  const url = authorizeUrl({ base, clientId, callback: CALLBACK }, { resource: resource() });
  const reply = await fetch(url, {
    redirect: "manual",
    headers: { "x-forwarded-host": "evil.test", "x-forwarded-proto": "https", forwarded: "host=evil.test" },
  });
  expect(reply.headers.get("location")).toMatch(/^\/oauth\/interaction\/|^http:\/\/127\.0\.0\.1:/);
  expect(reply.headers.get("location")).not.toContain("evil.test");
});

const BAD_DOCUMENTS: Record<string, () => string> = {
  "that names another client": () => serveDocument("/other.json", { client_id: documentAt("/else.json") }),
  "that is longer than 8 KiB": () => serveDocument("/long.json", { contacts: ["x".repeat(9_000)] }),
  "that is no JSON": () => {
    served.set("/text.json", () => ({ body: "<html>" }));
    return documentAt("/text.json");
  },
  "that has moved": () => {
    serveDocument("/target.json");
    served.set("/moved.json", () => ({ status: 302, headers: { location: documentAt("/target.json") }, body: "" }));
    return documentAt("/moved.json");
  },
  "that has a secret": () =>
    serveDocument("/secret.json", { client_secret: "x", token_endpoint_auth_method: "client_secret_post" }),
  "that redirects through an open network": () =>
    serveDocument("/open.json", { redirect_uris: ["http://evil.test/cb"] }),
  "that is not there": () => documentAt("/nothing.json"),
  "over HTTP": () => "http://localhost:1/client.json",
  "with a user name": () => `https://user@localhost:${documents.port}/first.json`,
  "with dots in its path": () => `https://localhost:${documents.port}/x/../first.json`,
};

test.each(Object.keys(BAD_DOCUMENTS))("a client document %s is refused", async (name) => {
  const clientId = BAD_DOCUMENTS[name]?.() as string;
  const reply = await person().fetch(authorizeUrl({ base, clientId, callback: CALLBACK }, { resource: resource() }));
  expect([reply.status, reply.headers.get("location")]).toEqual([400, null]);
  expect(asked).not.toContain("/target.json");
});

test("a client document at a closed address is not asked for (server-side request forgery)", async () => {
  const clientId = serveDocument("/inside.json");
  const before = asked.length;
  for (const id of [clientId, clientId.replace("localhost", "127.0.0.1"), "https://169.254.169.254/latest/meta-data"]) {
    const url = authorizeUrl(
      { base: closed.baseUrl, clientId: id, callback: CALLBACK },
      { resource: `${closed.baseUrl}/mcp/cti` },
    );
    expect((await fetch(url, { redirect: "manual" })).status).toBe(400);
  }
  expect(asked.length).toBe(before);
});

test("a client document that offers two ways to authenticate is served in the one that is used", async () => {
  const clientId = serveDocument("/two-ways.json", {
    token_endpoint_auth_method: "private_key_jwt",
    token_endpoint_auth_methods_supported: ["none", "private_key_jwt"],
    token_endpoint_auth_signing_alg: "RS256",
    jwks_uri: documentAt("/jwks.json"),
  });
  const allowed = await allow({ base, clientId, callback: CALLBACK }, "cti", person());
  expect((await redeem(allowed)).status).toBe(200);
  // One that offers a signature alone is not let in without.
  const strict = serveDocument("/one-way.json", {
    token_endpoint_auth_method: "private_key_jwt",
    token_endpoint_auth_signing_alg: "RS256",
    jwks_uri: documentAt("/jwks.json"),
  });
  const { status, body } = await redeem(await allow({ base, clientId: strict, callback: CALLBACK }, "cti", person()));
  expect({ status, error: body.error }).toEqual({ status: 401, error: "invalid_client" });
});

test("who signed out is asked again, and a client is given nobody else's tokens", async () => {
  const { clientId } = await register(base);
  const client = { base, clientId, callback: CALLBACK };
  const browser = person();
  await allow(client, "cti", browser);
  const { admin } = program.bootstrap;
  const next = new Browser({ email: admin.email, password: OWN_PASSWORD, answer: "allow", write: "yes" });
  const { page } = await atConsent(next, clientId);
  expect(page).toContain(admin.email);
});

test("more registrations than an office needs wait, and a long one is refused", async () => {
  const long = await fetch(`${closed.baseUrl}/oauth/register`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(nativeClient(CALLBACK, { contacts: ["x".repeat(9_000)] })),
  });
  expect(long.status).toBe(413);
  let status = 201;
  let count = 0;
  for (; status === 201 && count < 120; count++) {
    const reply = await fetch(`${closed.baseUrl}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(nativeClient(CALLBACK)),
    });
    status = reply.status;
    await reply.text();
  }
  expect({ status, count }).toEqual({ status: 429, count: 101 });
});

test("the store and the log have nothing that opens anything", async () => {
  const browser = person();
  const connected = await connectByHand(base, "cti", browser);
  const rotated = await refresh(connected, connected.tokens.refresh_token);
  const waiting = await allow(await register(base), "grc", browser);
  const { form } = await atConsent(browser, connected.clientId);
  const { analyst, admin } = program.bootstrap;
  const secrets: Record<string, string> = {
    ...{
      "the access token": connected.tokens.access_token,
      "its signature": connected.tokens.access_token.split(".")[2] as string,
    },
    ...{
      "a used refresh token": connected.tokens.refresh_token,
      "the refresh token": rotated.body.refresh_token as string,
    },
    ...{ "a used code": connected.code, "a code": waiting.code, "a verifier": waiting.verifier },
    ...{
      "a password": OWN_PASSWORD,
      "the first password": analyst.password,
      "the mark of a form": form.get("csrf") as string,
    },
    ...{
      "a key": analyst.api_key,
      "a key's secret": analyst.api_key.slice(-49, -6),
      "another key's secret": admin.api_key.slice(-49, -6),
    },
  };
  for (const [name, value] of browser.cookies()) if (value.length >= 20) secrets[`the cookie ${name}`] = value;
  expect(Object.keys(secrets).filter((name) => name.startsWith("the cookie")).length).toBeGreaterThanOrEqual(2);
  await program.stop();

  const store = filesIn(program.dataDir).filter(({ path }) => !/bootstrap\.json$|service-key$|secrets-key$/.test(path));
  expect(store.length).toBeGreaterThan(0);
  const all = Buffer.concat(store.map(({ bytes }) => bytes));
  // What is looked for is found where it is.
  expect(
    all.includes(
      createHash("sha256")
        .update("RefreshToken\0")
        .update(rotated.body.refresh_token as string)
        .digest("base64url"),
    ),
  ).toBe(true);
  const said = program
    .output()
    .replace(/^ {4}.*$/gm, "")
    .replace(/"Bearer [^"]+"/g, "");
  for (const [name, secret] of Object.entries(secrets)) {
    expect({ name, stored: all.includes(secret) }).toEqual({ name, stored: false });
    if (!name.includes("key")) expect({ name, logged: said.includes(secret) }).toEqual({ name, logged: false });
  }
});

function filesIn(folder: string): { readonly path: string; readonly bytes: Buffer }[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => ({ path, bytes: readFileSync(path) }));
}
