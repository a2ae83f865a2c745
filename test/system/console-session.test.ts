import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withOwnPassword } from "../support/console.js";
import { type Program, startProgram } from "../support/program.js";

// A person's session as a credential: what a page of ours may do with it, and nobody else.

interface Said {
  readonly caller: { readonly email: string; readonly keyId: string };
  readonly key: { readonly expiresAt?: string };
  readonly token: string;
  readonly message: string;
}

const SAME = { "sec-fetch-site": "same-origin" };

describe("a session at the console", () => {
  let program: Program;
  let person: { email: string; password: string };

  beforeAll(async () => {
    program = await startProgram();
    person = await withOwnPassword(program, program.bootstrap.analyst);
  });
  afterAll(() => program?.stop());

  const at = (path: string, headers: Record<string, string>, body: object = {}): Promise<Response> =>
    fetch(`${program.baseUrl}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  async function signIn(who: object = person): Promise<string> {
    const answer = await at("/console/session", SAME, who);
    expect(answer.status).toBe(200);
    return answer.headers
      .getSetCookie()
      .map((one) => one.split(";", 1)[0])
      .join("; ");
  }
  const whoAmI = (headers: Record<string, string>): Promise<Response> =>
    at("/rpc/auth.v1.ApiKeyService/WhoAmI", headers);
  /** The answer, as far as these tests look at it. */
  const said = async (answer: Response | Promise<Response>): Promise<Said> => (await (await answer).json()) as Said;
  const cookieValue = (cookie: string): string => /sallyport=([\w-]+)/.exec(cookie)?.[1] as string;

  test("calls the API as its person, and the MCP endpoints not at all", async () => {
    const cookie = await signIn();
    const answer = await whoAmI({ ...SAME, cookie });
    expect(answer.status).toBe(200);
    expect((await said(answer)).caller).toMatchObject({ email: person.email });
    const body = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    expect(
      (await at("/mcp/cti", { ...SAME, cookie, accept: "application/json, text/event-stream" }, body)).status,
    ).toBe(401);
    expect((await at("/v1/traces", { ...SAME, cookie })).status).toBe(401);
  });

  test.each([
    ["another site", { "sec-fetch-site": "cross-site" }],
    ["a neighbour of the domain", { "sec-fetch-site": "same-site" }],
    ["an address that was typed", { "sec-fetch-site": "none" }],
    ["a browser that does not say, at another origin", { origin: "http://evil.example" }],
    ["somebody who says nothing", {}],
  ])("counts for nothing in a request of %s", async (_who, headers: Record<string, string>) => {
    const cookie = await signIn();
    expect([401, 403]).toContain((await whoAmI({ ...headers, cookie })).status);
    expect((await at("/console/session", headers, person)).status).toBe(403);
    expect((await at("/console/session/end", { ...headers, cookie })).status).toBe(403);
    expect((await whoAmI({ ...SAME, cookie })).status).toBe(200);
  });

  test("of a browser that sends no Sec-Fetch-Site the origin is ours", async () => {
    const cookie = await signIn();
    expect((await whoAmI({ origin: new URL(program.baseUrl).origin, cookie })).status).toBe(200);
  });

  test("is no bearer token, and no other text is a session", async () => {
    const value = cookieValue(await signIn());
    for (const token of [value, `session ${value}`, `session  ${value}`]) {
      expect((await whoAmI({ authorization: `Bearer ${token}` })).status).toBe(401);
    }
    for (const forged of [
      "",
      "x",
      `${value}x`,
      value.slice(1),
      "A".repeat(43),
      "%00",
      `${value}; sallyport=x`.slice(-20),
    ]) {
      expect((await whoAmI({ ...SAME, cookie: `sallyport=${forged}` })).status, forged).toBe(401);
    }
  });

  test("a bearer token that is sent beside it is what counts", async () => {
    const cookie = await signIn();
    expect((await whoAmI({ ...SAME, cookie, authorization: "Bearer slp_wrong" })).status).toBe(401);
    const answer = await whoAmI({ ...SAME, cookie, authorization: `Bearer ${program.bootstrap.admin.api_key}` });
    expect((await said(answer)).caller.email).toBe(program.bootstrap.admin.email);
  });

  test("signed out, it is refused with its next request, and the others go on", async () => {
    const [one, other] = [await signIn(), await signIn()];
    expect((await whoAmI({ ...SAME, cookie: one })).status).toBe(200);
    expect((await at("/console/session/end", { ...SAME, cookie: one })).status).toBe(200);
    expect((await whoAmI({ ...SAME, cookie: one })).status).toBe(401);
    expect((await whoAmI({ ...SAME, cookie: other })).status).toBe(200);
  });

  test("ended by an administrator, by its id", async () => {
    const cookie = await signIn();
    const { caller } = await said(whoAmI({ ...SAME, cookie }));
    const admin = { authorization: `Bearer ${program.bootstrap.admin.api_key}` };
    expect((await at("/rpc/auth.v1.SessionService/EndSession", admin, { id: caller.keyId })).status).toBe(200);
    expect((await whoAmI({ ...SAME, cookie })).status).toBe(401);
  });

  test("changing the password keeps this session and ends the others", async () => {
    const [one, other] = [await signIn(), await signIn()];
    const next = "another password of seven words";
    const changed = await at(
      "/rpc/auth.v1.SessionService/ChangePassword",
      { ...SAME, cookie: one },
      {
        currentPassword: person.password,
        newPassword: next,
      },
    );
    expect(changed.status).toBe(200);
    person = { ...person, password: next };
    expect((await whoAmI({ ...SAME, cookie: one })).status).toBe(200);
    expect((await whoAmI({ ...SAME, cookie: other })).status).toBe(401);
  });

  test("a key that is made in it has the expiry that was asked for, and outlives it", async () => {
    const cookie = await signIn();
    const made = await said(at("/rpc/auth.v1.ApiKeyService/CreateApiKey", { ...SAME, cookie }, { name: "Kept" }));
    expect(made.key.expiresAt).toBeUndefined();
    await at("/console/session/end", { ...SAME, cookie });
    expect((await whoAmI({ authorization: `Bearer ${made.token}` })).status).toBe(200);
  });

  test("who must choose a new password does nothing before", async () => {
    const admin = { authorization: `Bearer ${program.bootstrap.admin.api_key}` };
    const email = "new@sallyport.example";
    const password = "set by an administrator, 7 words";
    const created = await at("/rpc/auth.v1.UserService/CreateUser", admin, { email, name: "New", password });
    expect(created.status).toBe(200);
    const cookie = await signIn({ email, password });
    expect(await (await fetch(`${program.baseUrl}/console/session`, { headers: { cookie } })).json()).toMatchObject({
      state: "must_change_password",
    });
    expect((await whoAmI({ ...SAME, cookie })).status).toBe(401);
    const own = await withOwnPassword(program, { email, password });
    expect((await whoAmI({ ...SAME, cookie: await signIn(own) })).status).toBe(200);
  });

  test("what is no sign-in is refused with what to do", async () => {
    const cookie = await signIn();
    const refusal = async (path: string, body: object, headers: Record<string, string> = {}) => {
      const answer = await at(path, { ...SAME, ...headers }, body);
      return [answer.status, (await said(answer)).message];
    };
    expect(await refusal("/console/session", { email: person.email, password: "wrong" })).toEqual([
      401,
      "The e-mail address or the password is wrong.",
    ]);
    expect((await refusal("/console/session", { email: 1 }))[0]).toBe(400);
    expect((await refusal("/console/session", { email: "x".repeat(5_000) }))[0]).toBe(400);
    expect((await refusal("/console/session", person, { "content-type": "text/plain" }))[0]).toBe(400);
    expect((await refusal("/console/session/nothing", {}))[0]).toBe(404);
    expect(await refusal("/console/session/password", { current: "x", next: "y" })).toEqual([
      401,
      "The session has ended: sign in again.",
    ]);
    expect(
      (await refusal("/console/session/password", { current: person.password, next: "short" }, { cookie }))[0],
    ).toBe(401);
  });
});
