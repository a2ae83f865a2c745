import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AuditKind, AuditService } from "#proto/auth/v1/audit_service_pb.js";
import { GroupService } from "#proto/auth/v1/group_service_pb.js";
import { SessionService } from "#proto/auth/v1/session_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { type RealProvider, startRealProvider } from "../services/auth/federation/real-provider.js";
import { Browser } from "../support/oauth/browser.js";
import { allow, authorizeUrl, connectByHand, redeem, register } from "../support/oauth/by-hand.js";
import { ClientState, claimsOf, nativeClient } from "../support/oauth/client-state.js";
import { connect } from "../support/oauth/connect.js";
import { freePorts, type Program, startProgram } from "../support/program.js";

// A company's people sign in at the company's provider, which is a certified one
// with its own pages, on the way from an MCP client to its token.

const SECRET = "a-secret-of-the-client-0123456789";
const BUTTON = "Sign in with Corp";
const CALLBACK = "http://127.0.0.1:41999/callback";

describe.each(["", "/x"])("at the base path %j", (path) => {
  let provider: RealProvider;
  let program: Program;
  let base: string;

  beforeAll(async () => {
    const [port = 0] = await freePorts(1);
    base = `http://127.0.0.1:${port}${path}`;
    provider = await startRealProvider({
      redirectUri: `${base}/oauth/federation/corp/callback`,
      clientSecret: SECRET,
    });
    const corp = {
      ...{ id: "corp", label: "Corp", issuer: provider.issuer, client_id: "sallyport", client_secret: SECRET },
      ...{ email_domains: ["corp.example"], creates_users: true, scopes: ["profile", "groups"] },
      groups: { soc: "SOC" },
    };
    program = await startProgram({
      keepData: true,
      env: { PORT: String(port), BASE_URL: base, SIGN_IN_PROVIDERS: JSON.stringify([corp]) },
    });
    await admin(GroupService).createGroup({ name: "SOC" });
  });
  afterAll(async () => {
    await program?.stop();
    program?.forget();
    await provider?.close();
  });

  const admin = <S extends Parameters<typeof connectClient>[0]>(service: S) =>
    connectClient(service, { baseUrl: program.bootstrap.grpc_url, apiKey: program.bootstrap.admin.api_key });

  /** Somebody at the provider. */
  function person(name: string, more: object = {}): Browser {
    provider.people.set(name, {
      ...{ email: `${name}@corp.example`, email_verified: true, name: `${name} of Corp`, groups: ["soc"] },
      ...more,
    });
    return new Browser({ username: name, password: name, answer: "allow", write: "yes" }, fetch, BUTTON);
  }
  const userOf = async (name: string) =>
    (await admin(UserService).getUser({ email: `${name}@corp.example` })).user as { id: string; groups: string[] };

  test("a client's person signs in there, is created with groups, allows the client, and the client calls", async () => {
    const state = new ClientState(CALLBACK, nativeClient(CALLBACK));
    const browser = person("ana");
    const client = await connect("sdk 1, 2025-11-25", `${base}/mcp/core`, state, browser);
    const { structuredContent } = (await client.call("list_agents")) as { structuredContent: object };
    expect(structuredContent).toHaveProperty("agents");
    await client.close();
    const user = await userOf("ana");
    expect(user.groups).toHaveLength(1);
    expect(claimsOf(state.tokens()?.access_token as string)).toMatchObject({ sub: user.id, aud: `${base}/mcp/core` });
    const { sessions } = await admin(SessionService).listSessions({ userId: user.id });
    expect(sessions).toHaveLength(1);
    // The next client of the same browser asks for consent alone.
    const before = browser.pages.length;
    await connectByHand(base, "cti", browser);
    expect(browser.pages.slice(before).filter((page) => page.includes(BUTTON))).toEqual([]);
    const { records } = await admin(AuditService).listAuditRecords({ userEmail: "ana@corp.example", pageSize: 50 });
    expect(records.map(({ action }) => action)).toEqual(
      expect.arrayContaining(["user_created", "link_identity", "map_groups", "sign_in", "connect"]),
    );
  });

  test("a person of ours with the same verified address is linked, and keeps the link when the address changes", async () => {
    const { user } = await admin(UserService).createUser({ email: "bo@corp.example", name: "Bo" });
    const { tokens } = await connectByHand(base, "cti", person("bo"));
    expect(claimsOf(tokens.access_token).sub).toBe(user?.id);
    const again = await connectByHand(base, "cti", person("bo", { email: "bo.new@corp.example" }));
    expect(claimsOf(again.tokens.access_token).sub).toBe(user?.id);
  });

  test("who asks for another account is asked at the provider who they are", async () => {
    person("cy");
    person("di");
    const fields = { username: "cy", password: "cy", answer: "allow", write: "yes" };
    const browser = new Browser(fields, fetch, BUTTON);
    await connectByHand(base, "cti", browser);
    fields.username = fields.password = "di";
    const client = await register(base);
    const [verifier, resource] = ["v".repeat(43), `${base}/mcp/cti`];
    const back = await browser.follow(authorizeUrl(client, { resource, prompt: "login" }, verifier), client.callback);
    const { body } = await redeem({ ...client, verifier, resource, code: back.searchParams.get("code") as string });
    expect(claimsOf(body.access_token as string).sub).toBe((await userOf("di")).id);
  });

  test.each([
    ["an address that is not verified", { email_verified: false }, "has not verified your e-mail address"],
    ["an address of another domain", { email: "eve@other.example" }, "not of a domain that may sign in here"],
  ])("%s signs nobody in, and the page says why", async (_, more, said) => {
    await expect(connectByHand(base, "cti", person("eve", more))).rejects.toThrow(said);
    const refusals = async () => {
      const { records } = await admin(AuditService).listAuditRecords({ kind: AuditKind.REFUSAL, pageSize: 20 });
      return records.map(({ action }) => action);
    };
    await expect.poll(refusals, { timeout: 10_000 }).toContain("federated_sign_in");
  });

  test("a disabled person is refused, and lets nobody in whom they had connected", async () => {
    const browser = person("fay");
    const { tokens } = await connectByHand(base, "cti", browser);
    const { id } = await userOf("fay");
    await admin(UserService).updateUser({ id, disabled: true });
    await expect(connectByHand(base, "cti", person("fay"))).rejects.toThrow("Your account is disabled here");
    const reply = await fetch(`${base}/mcp/cti`, {
      method: "POST",
      headers: { authorization: `Bearer ${tokens.access_token}`, "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" }),
    });
    expect(reply.status).toBe(401);
  });

  test("a callback is good once, in the browser that began, and leads to pages of ours alone", async () => {
    const begin = (returnTo: string) =>
      fetch(`${base}/oauth/federation/corp?${new URLSearchParams({ return_to: returnTo })}`, { redirect: "manual" });
    for (const foreign of ["https://evil.example/", "//evil.example/", `${path}/mcp/cti`, "/\\evil.example", ""])
      expect((await begin(foreign)).status, foreign).toBe(403);
    const begun = await begin(`${path}/oauth/interaction/abc`);
    expect(begun.status).toBe(303);
    expect(begun.headers.get("location")).toContain(`${provider.issuer}/`);

    const browser = person("gus");
    const seen: URL[] = [];
    const watching = new Browser(
      browser.fields,
      (url, init) => {
        seen.push(new URL(String(url)));
        return fetch(url, init);
      },
      BUTTON,
    );
    await allow(await register(base), "cti", watching);
    const callback = seen.find(({ pathname }) => pathname.endsWith("/federation/corp/callback")) as URL;
    expect((await watching.fetch(callback)).status).toBe(403);
    const stranger = await fetch(callback, { redirect: "manual" });
    expect(stranger.status).toBe(403);
    expect(await stranger.text()).toContain("This browser did not begin this sign-in");
    expect((await fetch(`${base}/oauth/federation/corp`, { method: "POST" })).status).toBe(405);
    expect((await fetch(`${base}/oauth/federation/unknown?return_to=${path}/oauth/x`)).status).toBe(403);
  });

  test("the store and the log have nothing that opens anything", async () => {
    const seen: URL[] = [];
    const browser = new Browser(
      person("hal").fields,
      (url, init) => {
        seen.push(new URL(String(url)));
        return fetch(url, init);
      },
      BUTTON,
    );
    const { tokens } = await connectByHand(base, "cti", browser);
    const callback = seen.find(({ pathname }) => pathname.endsWith("/federation/corp/callback")) as URL;
    const secrets = [
      ...[SECRET, tokens.access_token, tokens.refresh_token],
      ...["code", "state"].map((name) => callback.searchParams.get(name) as string),
      ...browser.cookies().flatMap(([, value]) => (value.length >= 20 ? [value] : [])),
    ];
    expect(secrets.length).toBeGreaterThanOrEqual(7);
    await program.stop();
    const stored = readFileSync(join(program.dataDir, "main/data.mdb"), "latin1");
    expect(stored).toContain("hal@corp.example");
    for (const secret of secrets) {
      expect(stored).not.toContain(secret);
      expect(program.output()).not.toContain(secret);
    }
  });
});
