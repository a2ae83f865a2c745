import { readdirSync, readFileSync } from "node:fs";
import { createFileRegistry, type DescMethod, type DescService, fromBinary, getOption } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scope } from "#proto/auth/v1/access_pb.js";
import { newPerson, type PersonAtConsole, withOwnPassword } from "../../support/console.js";
import { call } from "../../support/mcp.js";
import { type Program, startProgram } from "../../support/program.js";

// What the console calls, read from its sources, made by hand by those who may not.

const SOURCES = new URL("../../../clients/console/src/", import.meta.url);

const IMAGE = readFileSync(new URL("../../../proto/gen/api.binpb", import.meta.url));
const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, IMAGE));

/** @param module such as auth/v1/user_service_pb. */
function serviceOf(module: string, name: string): DescService {
  const found = registry.getService(`${module.split("/").slice(0, -1).join(".")}.${name}`);
  if (found === undefined) throw new Error(`the API has no ${name} in ${module}`);
  return found;
}

/** Every rpc that the console calls. */
function methodsOfConsole(): readonly DescMethod[] {
  const found = new Map<string, DescMethod>();
  for (const name of readdirSync(SOURCES, { recursive: true, encoding: "utf8" })) {
    if (!/\.tsx?$/.test(name)) continue;
    const text = readFileSync(new URL(name, SOURCES), "utf8");
    for (const [, names = "", module = ""] of text.matchAll(/import \{([^}]*)\} from "#api\/([^"]+)"/g)) {
      const services = names
        .split(",")
        .map((one) => one.trim())
        .filter((one) => /^\w+Service$/.test(one));
      for (const service of services) {
        const { method: methods, typeName } = serviceOf(module, service);
        const [, taken = ""] = new RegExp(`const \\{([^}]*)\\} = ${service}\\.method`).exec(text) ?? [];
        const called = [
          ...[...text.matchAll(new RegExp(`${service}\\.method\\.(\\w+)`, "g"))].map(([, one]) => one as string),
          ...taken.split(",").map((one) => one.trim()),
        ].filter((one) => one !== "");
        expect(called, `${name} imports ${service}`).not.toEqual([]);
        for (const one of called) found.set(`${typeName}/${one}`, methods[one] as DescMethod);
      }
    }
  }
  return [...found.values()];
}

const METHODS = methodsOfConsole();
const urlOf = ({ parent, name }: DescMethod): string => `${parent.typeName}/${name}`;
const forAdministrators = METHODS.filter((method) => getOption(method, scope) === "admin");
const forEverybody = METHODS.filter((method) => getOption(method, scope) !== "admin" && method.methodKind === "unary");
const streams = METHODS.filter(({ methodKind }) => methodKind !== "unary");

interface Listed {
  readonly users: readonly { readonly id: string; readonly email: string }[];
  readonly groups: readonly { readonly id: string }[];
  readonly tokens: readonly { readonly id: string }[];
  readonly keys: readonly { readonly id: string }[];
  readonly sessions: readonly { readonly id: string }[];
  readonly platform: { readonly id: string };
}

describe("the calls of the console, made by hand", () => {
  let program: Program;
  let analyst: string;
  let other: PersonAtConsole;
  /** What the requests name: objects that are there, and are not the analyst's. */
  const ids = { user: "", group: "", token: "", key: "", session: "", platform: "", run: "", trace: "" };

  beforeAll(async () => {
    program = await startProgram();
    analyst = await cookieOf(await withOwnPassword(program, program.bootstrap.analyst));
    other = await newPerson(program, "other@sallyport.example");
    await cookieOf(other);
    const { users } = await asAdmin("auth.v1.UserService/ListUsers", {});
    ids.user = users.find(({ email }) => email === other.email)?.id as string;
    await asAdmin("auth.v1.GroupService/CreateGroup", { name: "Night shift" });
    await asAdmin("catalogue.v1.SettingService/CreateRegistrationToken", { name: "Paris", server: "cti" });
    await asAdmin("auth.v1.ApiKeyService/CreateApiKey", { name: "Theirs", userId: ids.user });
    ids.group = (await asAdmin("auth.v1.GroupService/ListGroups", {})).groups[0]?.id as string;
    ids.token = (await asAdmin("catalogue.v1.SettingService/ListRegistrationTokens", {})).tokens[0]?.id as string;
    ids.key = (await asAdmin("auth.v1.ApiKeyService/ListApiKeys", { userId: ids.user })).keys[0]?.id as string;
    const added = { server: "cti", url: "https://opencti.example.org", title: "Paris" };
    ids.platform = (await asAdmin("catalogue.v1.SettingService/AddPlatform", added)).platform.id;
    const { sessions } = await asAdmin("auth.v1.SessionService/ListSessions", { userId: ids.user });
    ids.session = sessions[0]?.id as string;
    // It has no model, and fails: it is there all the same.
    const { agent } = await asTool<{ agent: { id: string } }>("create_agent", { name: "Theirs" });
    const { run } = await asTool<{ run: { id: string } }>("trigger_run", {
      ...{ agent_id: agent.id, input: "Theirs", wait_seconds: 20 },
    });
    ids.run = run.id;
    ids.trace = (await asTool<{ run: { trace_id: string } }>("get_run", { run_id: run.id })).run.trace_id;
    expect(Object.values(ids).filter((id) => !id)).toEqual([]);
  });
  afterAll(() => program?.stop());

  const asTool = <T>(name: string, args: object): Promise<T> =>
    call<T>(`${program.baseUrl}/mcp/core`, program.bootstrap.admin.api_key, name, args);
  const post = (path: string, headers: Record<string, string>, body: object): Promise<Response> =>
    fetch(`${program.baseUrl}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
  async function cookieOf({ email, password }: PersonAtConsole): Promise<string> {
    const answer = await post("/console/session", { "sec-fetch-site": "same-origin" }, { email, password });
    expect(answer.status).toBe(200);
    return answer.headers
      .getSetCookie()
      .map((one) => one.split(";", 1)[0])
      .join("; ");
  }
  const byHand = (method: string, body: object, headers: Record<string, string> = {}): Promise<Response> =>
    post(`/rpc/${method}`, { "sec-fetch-site": "same-origin", cookie: analyst, ...headers }, body);
  async function asAdmin(method: string, body: object): Promise<Listed> {
    const answer = await post(`/rpc/${method}`, { authorization: `Bearer ${program.bootstrap.admin.api_key}` }, body);
    expect(answer.status, `${method}: ${await answer.clone().text()}`).toBe(200);
    return (await answer.json()) as Listed;
  }

  /** Everything that these calls could change, as an administrator sees it. */
  async function state(): Promise<string> {
    const everything = [
      await asAdmin("auth.v1.UserService/ListUsers", { pageSize: 100 }),
      await asAdmin("auth.v1.GroupService/ListGroups", { pageSize: 100 }),
      await asAdmin("catalogue.v1.SettingService/GetSettings", {}),
      await asAdmin("catalogue.v1.SettingService/ListRegistrationTokens", { pageSize: 100 }),
      await asAdmin("catalogue.v1.SettingService/ListPlatforms", {}),
      await asAdmin("auth.v1.SessionService/ListSessions", { userId: ids.user }),
      await asAdmin("auth.v1.ConnectionService/ListConnections", { everybody: true, pageSize: 100 }),
      await asAdmin("core.v1.RunService/GetRun", { runId: ids.run }),
    ];
    // Being read is a use.
    return JSON.stringify(everything, (name, value) =>
      /^(?:lastUsedAt|uses|lastSeenAt)$/.test(name) ? undefined : value,
    );
  }

  /** A request that an administrator would be served, for each rpc. */
  const bodies = (): Readonly<Record<string, object>> => ({
    "auth.v1.AuditService/ListAuditRecords": {},
    "auth.v1.GroupService/CreateGroup": { name: "Mine" },
    "auth.v1.GroupService/DeleteGroup": { id: ids.group },
    "auth.v1.GroupService/ListGroups": {},
    "auth.v1.GroupService/UpdateGroup": { id: ids.group, name: "Mine" },
    "auth.v1.UserService/CreateUser": { email: "mine@sallyport.example", name: "Mine", admin: true },
    "auth.v1.UserService/DeleteUser": { id: ids.user },
    "auth.v1.UserService/ListUsers": {},
    "auth.v1.UserService/UpdateUser": { id: ids.user, admin: true },
    "catalogue.v1.SettingService/AddPlatform": { server: "grc", url: "https://grc.example.org", title: "Mine" },
    "catalogue.v1.SettingService/CreateRegistrationToken": { name: "Mine", server: "cti" },
    "catalogue.v1.SettingService/ForgetPlatform": { id: ids.platform },
    "catalogue.v1.SettingService/GetSettings": {},
    "catalogue.v1.SettingService/ListRegistrationTokens": {},
    "catalogue.v1.SettingService/RevokeRegistrationToken": { id: ids.token },
    "catalogue.v1.SettingService/SelectPlatform": { id: ids.platform },
    "catalogue.v1.SettingService/UpdateSettings": { platformServers: false, core: false, ai: false },
  });

  test("the list of what the console calls is read from its sources", () => {
    expect(METHODS.length).toBeGreaterThanOrEqual(24);
    expect(Object.keys(bodies()).sort()).toEqual(forAdministrators.map(urlOf).sort());
  });

  test("every call for administrators is refused to an analyst, and changes nothing", async () => {
    const before = await state();
    for (const [method, body] of Object.entries(bodies())) {
      const answer = await byHand(method, body);
      expect(answer.status, `${method}: ${await answer.text()}`).toBe(403);
    }
    expect(await state()).toBe(before);
  });

  /** Every rpc that everybody may call, with somebody else named in it; undefined where a request names nobody. */
  const ofOthers = (): Readonly<Record<string, readonly object[]>> => ({
    "auth.v1.ApiKeyService/CreateApiKey": [
      { name: "Mine", userId: ids.user },
      { name: "Mine", userEmail: other.email },
    ],
    "auth.v1.ApiKeyService/ListApiKeys": [{ userId: ids.user }, { userEmail: other.email }],
    "auth.v1.ApiKeyService/RevokeApiKey": [{ id: ids.key }],
    "auth.v1.ApiKeyService/WhoAmI": [],
    "auth.v1.ConnectionService/EndConnection": [{ id: ids.key }],
    "auth.v1.ConnectionService/ListConnections": [
      { everybody: true },
      { userId: ids.user },
      { userEmail: other.email },
    ],
    "auth.v1.SessionService/SignOutEverywhere": [
      { userId: ids.user, connections: true, apiKeys: true },
      { userEmail: other.email },
    ],
    "catalogue.v1.EndpointService/DescribeEndpoints": [],
    "catalogue.v1.EndpointService/MeasureEndpoint": [],
    "catalogue.v1.PackageService/BuildPackage": [],
    "catalogue.v1.SettingService/ListPlatforms": [],
    "core.v1.AgentService/ListAgents": [],
    "core.v1.RunService/GetRun": [{ runId: ids.run }],
    "core.v1.RunService/ListRunSteps": [{ runId: ids.run }],
    "core.v1.RunService/ListRuns": [],
    "core.v1.RunService/UpdateRun": [
      { runId: ids.run, cancel: true },
      { runId: ids.run, answer: "Mine" },
    ],
    "traces.v1.TraceInspectionService/GetTracePayload": [{ traceId: ids.trace, field: "input" }],
  });

  /** Asks for the stream of somebody else's run, as a page of ours would. */
  function followByHand(headers: Record<string, string>): Promise<Response> {
    const body = Buffer.from(JSON.stringify({ runId: ids.run, waitSeconds: 1 }));
    const head = Buffer.alloc(5);
    head.writeUInt32BE(body.length, 1);
    return fetch(`${program.baseUrl}/rpc/core.v1.RunService/FollowRun`, {
      method: "POST",
      headers: { "content-type": "application/connect+json", "sec-fetch-site": "same-origin", ...headers },
      body: Buffer.concat([head, body]),
    });
  }

  test("a run of somebody else is not followed", async () => {
    expect(streams.map(urlOf)).toEqual(["core.v1.RunService/FollowRun"]);
    const answer = await followByHand({ cookie: analyst });
    expect(answer.status).toBe(200);
    // One message: the end of the stream, which says why.
    const said = Buffer.from(await answer.arrayBuffer());
    expect(said[0]).toBe(2);
    expect(JSON.parse(said.subarray(5).toString())).toMatchObject({ error: { code: "not_found" } });
    // A refused stream is one message too.
    for (const [headers, code] of [
      [{}, "unauthenticated"],
      [{ cookie: analyst, "sec-fetch-site": "cross-site" }, "unauthenticated"],
      [{ cookie: analyst, origin: "https://evil.example" }, "permission_denied"],
    ] as const) {
      const end = Buffer.from(await (await followByHand(headers)).arrayBuffer());
      expect(end[0]).toBe(2);
      expect(JSON.parse(end.subarray(5).toString())).toMatchObject({ error: { code } });
    }
  });

  test("keys, connections and sessions of others are refused by id and by address, and stay", async () => {
    expect(Object.keys(ofOthers()).sort()).toEqual(forEverybody.map(urlOf).sort());
    const before = await state();
    const calls = Object.entries(ofOthers()).flatMap(([method, all]) => all.map((body) => [method, body] as const));
    for (const [method, body] of [...calls, ["auth.v1.SessionService/EndSession", { id: ids.session }] as const]) {
      const answer = await byHand(method, body);
      expect([403, 404], `${method}: ${await answer.text()}`).toContain(answer.status);
    }
    expect(await state()).toBe(before);
  });

  test("without a session every call is refused, and with one from another site", async () => {
    const before = await state();
    for (const method of [...forAdministrators, ...forEverybody].map(urlOf)) {
      const body = bodies()[method] ?? {};
      expect((await byHand(method, body, { cookie: "" })).status, method).toBe(401);
      expect((await byHand(method, body, { "sec-fetch-site": "cross-site" })).status, method).toBe(401);
      const foreign = { cookie: analyst, origin: "https://evil.example" };
      expect((await post(`/rpc/${method}`, foreign, body)).status, method).toBe(403);
      expect((await post(`/rpc/${method}`, { cookie: analyst }, body)).status, method).toBe(401);
    }
    expect(await state()).toBe(before);
  });

  const ORIGIN = { "sec-fetch-site": "same-origin" };

  test("what a stranger sends to the console is bounded", async () => {
    const get = (path: string, init: RequestInit = {}): Promise<Response> =>
      fetch(`${program.baseUrl}${path}`, { redirect: "manual", ...init });
    // What is too long is not read.
    expect((await post("/console/session", ORIGIN, { email: "x".repeat(5_000), password: "y" })).status).toBe(400);
    expect((await post("/console/session", ORIGIN, { email: "x".repeat(100_000), password: "y" })).status).toBe(413);
    for (const body of ["[]", "null", "{", '{"email":1}', `{"email":${"[".repeat(2_000)}`]) {
      const answer = await get("/console/session", {
        method: "POST",
        headers: { ...ORIGIN, "content-type": "application/json" },
        body,
      });
      expect([400, 401], body.slice(0, 20)).toContain(answer.status);
    }
    const long = await get("/console/session", { headers: { cookie: `sallyport=${"x".repeat(8_000)}` } });
    expect([200, 431]).toContain(long.status);
    expect(
      (await byHand("auth.v1.ApiKeyService/WhoAmI", {}, { cookie: `sallyport=${"x".repeat(8_000)}` })).status,
    ).toBe(401);
    // Files are found by their name in a table; nothing is read from a path.
    for (const path of ["..%2f..%2fpackage.json", "%2e%2e/%2e%2e/package.json", "....//x", "%00", "index.js.br"]) {
      expect((await get(`/console/assets/${path}`)).status, path).toBe(404);
    }
    for (const method of ["PUT", "DELETE", "PATCH", "POST"]) {
      expect((await get("/console/profile/keys", { method })).status, method).toBe(405);
    }
    for (const path of ["/console/", "/console", "/console/profile/keys"]) {
      expect([200, 302], path).toContain((await get(path)).status);
    }
    // An address to return to is held against ours when a sign-in begins; here it is text in a query.
    const { ways } = (await (await get("/console/session?return_to=https://evil.example/")).json()) as {
      ways: unknown[];
    };
    expect(ways).toEqual([]);
  });

  test("of one person fifty sessions are kept: the oldest gives way", async () => {
    const first = await cookieOf(other);
    for (let n = 0; n < 50; n++) await cookieOf(other);
    expect((await byHand("auth.v1.ApiKeyService/WhoAmI", {}, { cookie: first })).status).toBe(401);
    const { sessions } = await asAdmin("auth.v1.SessionService/ListSessions", { userId: ids.user });
    expect(sessions).toHaveLength(50);
  });

  test("of a thousand wrong passwords from one address few are looked at, and the next ones are told how long to wait", async () => {
    const tried = await Promise.all(
      Array.from({ length: 1_000 }, async (_, n) => {
        const answer = await post("/console/session", ORIGIN, {
          email: `nobody${n}@sallyport.example`,
          password: "wrong",
        });
        return [answer.status, ((await answer.json()) as { message?: string }).message ?? ""] as const;
      }),
    );
    expect(tried.filter(([status]) => status === 200)).toEqual([]);
    expect(new Set(tried.map(([status]) => status)).size).toBeLessThanOrEqual(2);
    expect(tried.filter(([, said]) => /^The e-mail address or the password is wrong/.test(said)).length).toBeLessThan(
      150,
    );
    // Fifty may fail before anybody waits, and the thousand may have left some of them: most had no turn at all.
    let said = "";
    for (let n = 0; n < 60 && !said.startsWith("Too many"); n++) {
      const next = await post("/console/session", ORIGIN, { email: "nobody@sallyport.example", password: "wrong" });
      said = ((await next.json()) as { message: string }).message;
    }
    expect(said).toMatch(/^Too many sign-ins have failed: try again in (?:a second|\d+ seconds)\.$/);
    // Nobody who is signed in notices.
    expect((await byHand("auth.v1.ApiKeyService/WhoAmI", {})).status).toBe(200);
  });
});
