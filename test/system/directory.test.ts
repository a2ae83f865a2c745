import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { serverJson } from "../../clients/cli/server-json.js";
import { layOutEndpoints } from "../../facade/catalogue/endpoints.js";
import { GRANT_S, IDLE_S } from "../../services/auth/oauth/lifetimes.js";
import { KEPT_DAYS } from "../../services/core-objects/runs/begin-run.js";
import { options } from "../../services/launcher/config.js";
import { SERVERS, scopesOfServer } from "../../services/shared/platforms.js";
import { VERSION } from "../../services/shared/process/version.js";
import { DIRECTORY, directoryPage } from "../pages/hours/reviewer.js";
import { masked } from "../pages/hours/shell.js";
import { run } from "../support/foreign.js";
import { Browser } from "../support/oauth/browser.js";
import { authorizeUrl, register } from "../support/oauth/by-hand.js";
import { nativeClient } from "../support/oauth/client-state.js";
import { freePorts, type Program, startProgram } from "../support/program.js";

// What docs/directory.md says of the service, at a service.

const PAGE = readFileSync(DIRECTORY, "utf8");
const cli = (...args: string[]) => run(process.execPath, ["dist/clients/cli/main.js", ...args], { env: {} });

test("the session of the page is what a shell shows (npm run pages)", async () => {
  expect(masked(PAGE)).toBe(masked(await directoryPage(PAGE)));
});

test("the tests that the page names exist", () => {
  const named = [...PAGE.matchAll(/`(test\/[\w/-]+\.test\.ts)`/g)].map(([, file]) => file as string);
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((file) => !existsSync(file))).toEqual([]);
});

test("the privacy text has the times that the settings have by default", () => {
  const { auditDays, traceRetentionDays, tracing } = options;
  expect(PAGE).toContain(`Audit records ${auditDays.fallback} days.`);
  expect(PAGE).toContain(`Traces ${traceRetentionDays.fallback} days.`);
  expect(PAGE).toContain(`Runs ${KEPT_DAYS} days.`);
  const [idle, most] = [IDLE_S, GRANT_S].map((seconds) => seconds / 86_400);
  expect(PAGE.replaceAll("\n> ", " ")).toContain(`ends after ${idle} days without use, and after ${most} days.`);
  // Nothing else is sent, as long as nobody names a place for it.
  expect(tracing.fallback).toBe(false);
});

test("its patterns are anchored, with a host in lower case, and match the URLs of endpoints and no others", () => {
  const patterns = [...PAGE.matchAll(/`(\^https:[^`]+\$)`/g)].map(([, text]) => text as string);
  expect(patterns).toHaveLength(2);
  for (const pattern of patterns) expect(pattern).toBe(pattern.toLowerCase());
  const urlsOf = (baseUrl: string, own: string): string[] =>
    layOutEndpoints({
      baseUrl: new URL(baseUrl),
      servers: new Map([["cti", []]]),
      publicUrls: { cti: new URL(own) },
    }).all.map(({ resource }) => resource);
  const urls = urlsOf("https://acme.example.com", "https://cti.acme.example.com/mcp");
  const [own, atBase] = patterns.map((text) => new RegExp(text)) as [RegExp, RegExp];
  expect(urls.map((url) => [atBase.test(url), own.test(url)])).toEqual([
    [true, false],
    [false, true],
  ]);
  for (const url of [
    "https://evil.test/https://cti.acme.example.com/mcp",
    "https://cti.acme.example.com.evil.test/mcp",
  ])
    expect([own.test(url), atBase.test(url)]).toEqual([false, false]);
});

describe("at a public URL, with a host of its own for cti", () => {
  const BASE = "https://sallyport.example.com";
  const OWN = "https://cti.example.com/mcp";
  const urls = [...SERVERS.map((server) => [server, `${BASE}/mcp/${server}`] as const), ["cti", OWN] as const];
  let program: Program;
  let port = 0;

  beforeAll(async () => {
    [port = 0] = await freePorts(1);
    program = await startProgram({
      env: { PORT: String(port), BASE_URL: BASE, MCP_CTI_URL: OWN, SERVICE_NAME: "Acme" },
    });
  });
  afterAll(() => program?.stop());

  /** Asks as the proxy does: with the host of the public URL. */
  function ask(url: string, method = "GET", body = ""): Promise<{ status: number; challenge: string; body: string }> {
    const { host, pathname, search } = new URL(url);
    const headers = { host, "content-type": "application/json", "content-length": body.length };
    return new Promise((resolve, reject) => {
      const sent = request({ port, host: "127.0.0.1", path: pathname + search, method, headers }, (reply) => {
        let text = "";
        reply.on("data", (piece: Buffer) => {
          text += piece;
        });
        reply.on("end", () => {
          const challenge = reply.headers["www-authenticate"] ?? "";
          resolve({ status: reply.statusCode ?? 0, challenge, body: text });
        });
      });
      sent.on("error", reject).end(body);
    });
  }
  const call = (url: string) => ask(url, "POST", '{"jsonrpc":"2.0","id":1,"method":"tools/list"}');

  test.each(urls)("%s at %s: 401, and metadata with exactly that URL", async (server, url) => {
    const refused = await call(url);
    expect(refused.status).toBe(401);
    const metadata = /^Bearer resource_metadata="([^"]+)", scope="([^"]+)"$/.exec(refused.challenge);
    expect(metadata?.[2]?.split(" ").sort()).toEqual([...scopesOfServer(server)].sort());
    const described = await ask(metadata?.[1] as string);
    expect(described.status).toBe(200);
    expect(JSON.parse(described.body)).toMatchObject({ resource: url, authorization_servers: [BASE] });
  });

  test("a key in the query is refused by its name, and is no key", async () => {
    const { api_key: key } = program.bootstrap.analyst;
    for (const name of ["token", "apiKey", "api_key", "access_token"]) {
      const reply = await call(`${BASE}/mcp/cti?${name}=${key}`);
      expect([400, 401], name).toContain(reply.status);
    }
  });

  test("the authorization server takes clients that describe themselves, and clients that register", async () => {
    const { status, body } = await ask(`${BASE}/.well-known/oauth-authorization-server`);
    expect(status).toBe(200);
    expect(JSON.parse(body)).toMatchObject({
      issuer: BASE,
      client_id_metadata_document_supported: true,
      token_endpoint_auth_methods_supported: expect.arrayContaining(["none"]),
      code_challenge_methods_supported: ["S256"],
      registration_endpoint: `${BASE}/oauth/register`,
    });
  });

  test.each(SERVERS)(
    "the command prints the entry of %s, with the URL that was chosen for it, without a key",
    async (server) => {
      const local = `http://127.0.0.1:${port}`;
      const { code, stdout, stderr } = await cli("packages", "server-json", "--server", server, "--url", local);
      expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
      const url = server === "cti" ? OWN : `${BASE}/mcp/${server}`;
      const listing = { server, url, baseUrl: BASE, serviceName: "Acme", version: VERSION };
      expect(stdout).toBe(`${JSON.stringify(serverJson({ ...listing, namespace: undefined }), null, 2)}\n`);
      const named = await cli(
        "packages",
        "server-json",
        "--server",
        server,
        "--url",
        local,
        "--namespace",
        "com.acme",
        "--json",
      );
      expect(JSON.parse(named.stdout)).toEqual(serverJson({ ...listing, namespace: "com.acme" }));
    },
  );

  test("what cannot be listed, and a service that is not there, are said in a sentence", async () => {
    const at = (url: string, ...more: string[]) =>
      cli("packages", "server-json", "--server", "cti", "--url", url, ...more);
    const wrong = await at(`http://127.0.0.1:${port}`, "--namespace", "acme");
    expect(wrong).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(/^the namespace acme is not a/) });
    const [none = 0] = await freePorts(1);
    const absent = await at(`http://127.0.0.1:${none}`);
    expect(absent).toMatchObject({ code: 6, stdout: "", stderr: expect.stringContaining("does not answer") });
    const other = await at(`http://127.0.0.1:${port}/mcp`);
    expect(other).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("does not say the addresses") });
  });
});

describe("Claude's way in", () => {
  const FIRST = "chosen by an administrator";
  const OWN = "chosen by the administrator for reviewers";
  const READER = "reader@sallyport.example";
  const folder = mkdtempSync(join(tmpdir(), "directory-"));
  let program: Program;
  beforeAll(async () => {
    program = await startProgram();
    const file = join(folder, "password");
    writeFileSync(file, FIRST);
    const { baseUrl, bootstrap } = program;
    const signIn = ["--url", baseUrl, "--key", bootstrap.admin.api_key];
    const made = await cli(
      "users",
      "create",
      "--email",
      READER,
      "--name",
      "Reviewer",
      "--password-file",
      file,
      ...signIn,
    );
    expect(made.code).toBe(0);
  });
  afterAll(async () => {
    await program?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const REDIRECTS = [
    ["https://claude.ai/api/mcp/auth_callback", "https://claude.ai/api/mcp/auth_callback", "claude.ai"],
    ["https://claude.com/api/mcp/auth_callback", "https://claude.com/api/mcp/auth_callback", "claude.com"],
    ["http://localhost/callback", "http://localhost:3118/callback", "localhost"],
    ["http://127.0.0.1/callback", "http://127.0.0.1:49152/callback", "127.0.0.1"],
  ] as const;

  /** Signs in and allows a client that is sent back to an address. */
  async function come(browser: Browser, registered: string, callback: string): Promise<URL> {
    const client = await register(program.baseUrl, nativeClient(registered));
    const resource = `${program.baseUrl}/mcp/cti`;
    return browser.follow(authorizeUrl({ ...client, callback }, { resource }, "v".repeat(43)), callback);
  }

  test("the first sign-in asks for another password, and the one that was given is over then", async () => {
    const [[registered, callback]] = REDIRECTS;
    const first = new Browser({ email: READER, password: FIRST, current: FIRST, next: OWN, answer: "allow" });
    expect((await come(first, registered, callback)).searchParams.get("code")).toBeTruthy();
    expect(first.pages.some((page) => page.includes('name="next"'))).toBe(true);
    const late = new Browser({ email: READER, password: FIRST, answer: "allow" });
    await expect(come(late, registered, callback)).rejects.toThrow("The e-mail address or the password is wrong");
  });

  test.each(REDIRECTS)(
    "%s is registered, %s is sent back to, and the page of consent shows %s",
    async (registered, callback, host) => {
      const reviewer = new Browser({ email: READER, password: OWN, answer: "allow" });
      const back = await come(reviewer, registered, callback);
      expect(back.searchParams.get("code")).toBeTruthy();
      expect(reviewer.pages.at(-1)).toContain(host);
      expect(reviewer.pages.some((page) => page.includes('name="next"'))).toBe(false);
    },
  );
});
