import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { wholeOf } from "../../../facade/http/exchange.js";
import { createPages } from "../../../facade/http/pages.js";
import type { Route } from "../../../facade/http/route.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { answerOf, modern, post } from "../support/client.js";
import { onEachEdge } from "../support/edges.js";
import { raw, requestText } from "../support/raw.js";
import { CTI, LIMITS, type Started, UNCOUNTED } from "../support/start.js";

onEachEdge(({ start, listen }) => {
  let server: Started;

  beforeAll(async () => {
    server = await start();
  });
  afterAll(() => server.close());

  const get = async (path: string, headers: Record<string, string> = {}, method = "GET", port = server.port) =>
    answerOf(await fetch(`http://127.0.0.1:${port}${path}`, { method, headers, redirect: "manual" }));

  const WELL_KNOWN = "/.well-known/oauth-protected-resource";

  test.each(["cti", "aev", "grc", "core"])("the resource metadata of %s is public", async (name) => {
    const { status, json, headers } = await get(`${WELL_KNOWN}/base/mcp/${name}`);
    expect(status).toBe(200);
    expect(json).toEqual({
      resource: `https://mcp.example.com/base/mcp/${name}`,
      authorization_servers: ["https://mcp.example.com/base"],
      scopes_supported: [`${name}:read`, `${name}:write`],
      bearer_methods_supported: ["header"],
      resource_name: `Test ${name}`,
    });
    expect(headers.get("access-control-allow-origin")).toBe("*");
    expect(headers.get("cache-control")).toBe("public, max-age=3600");
  });

  test.each([
    WELL_KNOWN,
    `${WELL_KNOWN}/base/mcp/none`,
    "/.well-known/other",
    "/.well-known/",
    "/",
    "/nothing",
    "/mcp/cti",
  ])("%s is 404 with a JSON body", async (path) => {
    const { status, json, headers } = await get(path);
    expect([status, headers.get("content-type"), typeof json]).toEqual([404, "application/json", "object"]);
  });

  test("an endpoint has its further public URL on its own host, with its own metadata", async () => {
    const hosts = ["cti.example.com", "other.example.com"];
    const other = await start({ publicUrls: { cti: new URL("https://CTI.example.com/mcp") }, hosts });
    const send = (host: string, path: string, authorization: string) =>
      new Promise<string>((resolve) => {
        const text = JSON.stringify(modern("tools/list").body);
        const socket = connect(other.port, "127.0.0.1");
        let answer = "";
        socket.on("data", (data) => {
          answer += data;
        });
        socket.on("close", () => resolve(answer));
        socket.write(
          `POST ${path} HTTP/1.1\r\nhost: ${host}\r\nauthorization: ${authorization}\r\ncontent-type: application/json\r\n` +
            "mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/list\r\nconnection: close\r\n" +
            `content-length: ${text.length}\r\n\r\n${text}`,
        );
      });
    expect(await send("cti.example.com", "/mcp", "Bearer good")).toMatch(/^HTTP\/1.1 200 OK/);
    expect(await send("other.example.com", "/mcp", "Bearer good")).toMatch(/^HTTP\/1.1 404/);
    const refused = await send("cti.example.com", "/mcp", "none");
    expect(refused).toContain(`resource_metadata="https://cti.example.com${WELL_KNOWN}/mcp"`);
    await other.close();
  });

  test("what platforms read to trust our tokens is published", async () => {
    expect((await get("/base/xtm/auth/jwks")).json).toEqual({ keys: [{ kty: "OKP", crv: "Ed25519" }] });
    expect((await get("/base/xtm/auth/metadata")).json).toEqual({ issuer: "https://mcp.example.com/base" });
    expect((await get("/base/xtm/.well-known/openid-configuration")).json).toMatchObject({
      issuer: "https://mcp.example.com/base",
      jwks_uri: "https://mcp.example.com/base/xtm/auth/jwks",
    });
  });

  test("a platform registers with its token", async () => {
    const url = `${server.url}/api/v1/platform/register`;
    const body = { platform_identifier: "opencti", platform_url: "https://octi.example.com", intents: [] };
    const { status, json } = await post(url, body, { authorization: "Bearer registration" });
    expect([status, json.platform_identifier, json.intent_catalog]).toEqual([200, "opencti", []]);
    expect(server.world.registered[0]).toMatchObject({ platformUrl: "https://octi.example.com" });
    expect((await post(url, body, { authorization: "Bearer wrong" })).status).toBe(401);
    expect((await post(url, body, { authorization: undefined })).status).toBe(401);
    expect((await post(url, "{", { authorization: "Bearer registration" })).status).toBe(400);
    expect(
      (await post(url, { ...body, platform_url: "no URL" }, { authorization: "Bearer registration" })).status,
    ).toBe(400);
    expect((await get("/base/api/v1/platform/register")).status).toBe(405);
  });

  test("health says that the process lives, readiness whether it can serve", async () => {
    let reasons: string[] = [];
    const other = await start({ ready: async () => reasons });
    expect((await get("/healthz", {}, "GET", other.port)).status).toBe(200);
    expect((await get("/readyz", {}, "GET", other.port)).status).toBe(200);
    reasons = ["catalogue: not reachable"];
    const { status, json } = await get("/readyz", {}, "GET", other.port);
    expect([status, json.reasons]).toEqual([503, reasons]);
    await other.close();
  });

  test("a page is served, in pieces where it has them", async () => {
    async function* pieces() {
      for (let i = 0; i < 64; i++) yield "x".repeat(100_000);
    }
    const routes: Route[] = [
      {
        path: "/console/*",
        methods: ["GET"],
        handle: ({ path }) => ({ status: 200, headers: [], body: path }),
      },
      { path: "/big", methods: ["GET"], handle: () => ({ status: 200, headers: [], body: pieces() }) },
      {
        path: "/echo",
        methods: ["POST"],
        takes: "stream",
        maxBody: 10,
        handle: async ({ body }) => ({
          status: 201,
          headers: ["x-injected", "a\r\nset-cookie: b"],
          body: await wholeOf(body),
        }),
      },
      {
        path: "/fault",
        methods: ["GET"],
        handle: () => {
          throw new Error("a secret");
        },
      },
    ];
    const other = await listen(
      { host: "127.0.0.1", port: 0, exclusive: true },
      createPages(routes, silentLog, UNCOUNTED).serve,
    );
    const at = (path: string) => get(path, {}, "GET", other.port);
    expect((await at("/console/a/b")).text).toBe("/console/a/b");
    expect((await at("/big")).text.length).toBe(6_400_000);
    const echoed = await fetch(`http://127.0.0.1:${other.port}/echo`, { method: "POST", body: "hello" });
    expect([echoed.status, await echoed.text(), echoed.headers.get("set-cookie")]).toEqual([201, "hello", null]);
    const long = await fetch(`http://127.0.0.1:${other.port}/echo`, { method: "POST", body: "hello, you all" });
    expect(long.status).toBe(413);
    const fault = await at("/fault");
    expect([fault.status, fault.text.includes("secret")]).toEqual([500, false]);
    other.close();
  });

  test("a preflight of an allowed origin is answered, that of another refused", async () => {
    const url = "/base/mcp/cti";
    const allowed = await get(
      url,
      { origin: "https://mcp.example.com", "access-control-request-method": "POST" },
      "OPTIONS",
    );
    expect(allowed.status).toBe(204);
    expect(allowed.headers.get("access-control-allow-origin")).toBe("https://mcp.example.com");
    for (const name of ["Authorization", "Content-Type", "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"]) {
      expect(allowed.headers.get("access-control-allow-headers")).toContain(name);
    }
    const other = await get(url, { origin: "https://evil.example.com" }, "OPTIONS");
    expect([other.status, other.headers.get("access-control-allow-origin")]).toEqual([403, null]);
    expect((await get(url, {}, "OPTIONS")).status).toBe(204);
  });

  test("an answer to an allowed origin may be read by it, refusals too", async () => {
    const { body, headers } = modern("tools/list");
    for (const authorization of ["Bearer good", "Bearer bad"]) {
      const answer = await post(`${server.url}/mcp/cti`, body, {
        ...headers,
        authorization,
        origin: "https://mcp.example.com",
      });
      expect(answer.headers.get("access-control-allow-origin")).toBe("https://mcp.example.com");
      expect(answer.headers.get("access-control-expose-headers")).toBe("WWW-Authenticate");
      expect(answer.headers.get("vary")).toBe("Origin");
    }
  });

  test("where the service is used on one machine, its web pages may call; elsewhere they may not", async () => {
    const local = await start({ baseUrl: new URL("http://127.0.0.1:8080") });
    const { body, headers } = modern("tools/list");
    const status = async (url: string, origin: string) => (await post(url, body, { ...headers, origin })).status;
    expect(await status(`http://127.0.0.1:${local.port}/mcp/cti`, "http://localhost:6274")).toBe(200);
    expect(await status(`http://127.0.0.1:${local.port}/mcp/cti`, "http://localhost.evil.com")).toBe(403);
    expect(await status(`${server.url}/mcp/cti`, "http://localhost:6274")).toBe(403);
    await local.close();
  });

  test("with a list of hosts, a request that names another is refused", async () => {
    const strict = await start({ hosts: ["mcp.example.com"] });
    const { status, json } = await post(`${strict.url}/mcp/cti`, modern("tools/list").body);
    expect([status, json.error.data.error]).toEqual([403, "host_not_allowed"]);
    await strict.close();
  });

  test.each([
    ["evil.example.com", 403],
    ["evil.example.com:8080", 403],
    ["127.0.0.1.evil.example.com", 403],
    ["localhost.", 403],
    ["0.0.0.0", 403],
    ["mcp.example.com", 200],
    ["MCP.example.com", 200],
    ["localhost", 200],
    ["LocalHost:9000", 200],
    ["127.0.0.1:9000", 200],
    ["127.1.2.3", 200],
    ["[::1]:9000", 200],
  ])(
    "a service of this machine alone, asked as %s, answers %i on /mcp and /rpc, and to probes",
    async (host, status) => {
      const { body, headers } = modern("tools/list");
      const text = JSON.stringify(body);
      const statusOf = async (path: string, sent: string, more: readonly string[], method = "POST") => {
        const lines = [`host: ${host}`, "connection: close", "authorization: Bearer good", ...more];
        const all = [...lines, "content-type: application/json", `content-length: ${sent.length}`];
        return Number((await raw(server.port, requestText(path, all, sent, method)).ended).slice(9, 12));
      };
      const named = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
      expect(await statusOf("/base/mcp/cti", text, named)).toBe(status);
      expect(await statusOf("/base/rpc/cti.fixture.v1.SightingService/EchoSighting", "{}", [])).toBe(status);
      expect(await statusOf("/healthz", "", [], "GET")).toBe(200);
    },
  );

  test("a web page that may not call is refused on /rpc as on /mcp", async () => {
    const url = `${server.url}/rpc/cti.fixture.v1.SightingService/EchoSighting`;
    const refused = await post(url, {}, { origin: "https://evil.example.com" });
    expect([refused.status, refused.json.code]).toEqual([403, "permission_denied"]);
    expect((await post(url, {}, { origin: "https://mcp.example.com" })).status).toBe(200);
  });

  test("an unknown member is refused by its name on every JSON door", async () => {
    const { body, headers } = modern("tools/call", { name: "echo_sighting", arguments: { colour: "red" } });
    const call = await post(`${server.url}/mcp/cti`, body, headers);
    expect(call.json.result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("colour") }] });
    const rpc = await post(`${server.url}/rpc/cti.fixture.v1.SightingService/EchoSighting`, { colour: "red" });
    expect([rpc.status, rpc.json.message]).toEqual([400, expect.stringContaining("colour")]);
    const registration = { platform_identifier: "opencti", platform_url: "https://octi.example.com", colour: "red" };
    const told = await post(`${server.url}/api/v1/platform/register`, registration, {
      authorization: "Bearer registration",
    });
    expect([told.status, told.json.message]).toEqual([400, expect.stringContaining("colour")]);
  });

  test("the port of another is an error in one line", async () => {
    await expect(server.facade.listen("127.0.0.1", server.port)).rejects.toThrow(/port is in use; stop/);
  });

  test("beyond its bound of requests in flight a worker answers 503 unread", async () => {
    const small = await start({ limits: { ...LIMITS, inFlight: 2 }, proxies: 1 });
    const wait = (name: string) => {
      small.keys.add(name, { scopes: CTI });
      const { body, headers } = modern("tools/call", { name: "wait_for_sighting", arguments: { name } });
      const as = { ...headers, authorization: `Bearer ${name}`, "x-forwarded-for": name };
      return post(`${small.url}/mcp/cti`, body, as).catch(() => undefined);
    };
    const waiting = [wait("a"), wait("b")];
    await expect.poll(() => small.world.waiting.size).toBe(2);
    const { body, headers } = modern("tools/list");
    const answer = await post(`${small.url}/mcp/cti`, body, headers);
    expect([answer.status, answer.headers.get("retry-after"), answer.json.error.data.error]).toEqual([
      503,
      "1",
      "overloaded",
    ]);
    await small.close();
    await Promise.all(waiting);
  });

  test("draining finishes what is in flight, closes its connection and takes no new one", async () => {
    const own = await start();
    const { body, headers } = modern("tools/call", { name: "count_sightings", arguments: { steps: 5, step_ms: 100 } });
    const pending = post(`${own.url}/mcp/cti`, body, { ...headers, accept: "application/json" });
    await new Promise((resolve) => setTimeout(resolve, 100));
    const drained = own.facade.drain(5_000);
    await expect(fetch(`${own.url}/mcp/cti`)).rejects.toThrow();
    expect((await pending).json.result.structuredContent).toEqual({ counted: 5 });
    const startedAt = performance.now();
    await drained;
    expect(performance.now() - startedAt).toBeLessThan(1_000);
  });

  test("while draining, a connection that was kept open serves one more request, and the client hears that it closes", async () => {
    const own = await start();
    const kept = new Agent({ keepAlive: true, maxSockets: 1 });
    const ask = async () => {
      const sent = request(`${own.url}/mcp/cti`, { agent: kept, method: "GET" }).end();
      const [reply] = (await once(sent, "response")) as [IncomingMessage];
      reply.resume();
      await once(reply, "end");
      return { status: reply.statusCode, connection: reply.headers.connection, isReused: sent.reusedSocket };
    };
    expect((await ask()).connection).not.toBe("close");
    const drained = own.facade.drain(5_000);
    await sleep(100);
    expect(await ask()).toEqual({ status: 405, connection: "close", isReused: true });
    await drained;
    kept.destroy();
  });

  test("who may not come in does not hold a place by sending the body slowly", async () => {
    const { port, pathname } = new URL(`${server.url}/mcp/cti`);
    const socket = connect(Number(port), "127.0.0.1");
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: 60000\r\n\r\n{`,
    );
    const begun = performance.now();
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1.1 401/);
    expect(performance.now() - begun).toBeLessThan(3_000);
    socket.destroy();
  });

  test("draining does not wait beyond its grace, and tells the calls that it ends", async () => {
    const own = await start();
    const { body, headers } = modern("tools/call", { name: "wait_for_sighting", arguments: { name: "endless" } });
    const pending = post(`${own.url}/mcp/cti`, body, headers);
    await expect.poll(() => own.world.waiting.has("endless")).toBe(true);
    await own.facade.drain(200);
    const { result } = (await pending).json;
    expect(result).toMatchObject({ isError: true, content: [{ text: expect.stringContaining("is restarting") }] });
    expect(own.world.waiting.get("endless")?.aborted).toBe(true);
  });
});
