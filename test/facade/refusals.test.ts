import { once } from "node:events";
import { afterEach, beforeEach, expect, test } from "vitest";
import { EndpointAvailability } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { answerOf, legacy, modern, post } from "./support/client.js";
import { headerLines, raw, requestText } from "./support/raw.js";
import { type Started, start } from "./support/start.js";

// The refusals of HTTP and their order: each request below has every fault
// that comes after the one it is refused for.

let server: Started;
let endpoint: string;

beforeEach(async () => {
  server = await start();
  endpoint = `${server.url}/mcp/cti`;
});
afterEach(() => server.close());

const LIST = modern("tools/list", {}, 41);
const CHALLENGE =
  'Bearer resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/base/mcp/cti", scope="cti:read cti:write"';
const ALL_WRONG = { origin: "https://evil.example.com", authorization: undefined, "content-type": "text/plain" };

test("the order is path, method, origin, token, state, type, protocol", async () => {
  server.world.availability.set("cti", EndpointAvailability.PLATFORM_SERVERS_OFF);
  const refusal = async (url: string, headers: Record<string, string | undefined>, body: unknown = LIST.body) => {
    const { status, json } = await post(url, body, headers);
    return [status, json.error.code, json.error.data?.error, json.id];
  };
  expect(await refusal(`${server.url}/mcp/none`, ALL_WRONG)).toEqual([404, 404, "unknown_endpoint", 41]);
  for (const method of ["GET", "DELETE", "PUT"]) {
    const answer = await answerOf(await fetch(endpoint, { method, headers: { origin: "https://evil.example.com" } }));
    expect([answer.status, answer.headers.get("allow"), answer.json.error.data.error]).toEqual([
      405,
      "POST",
      "method_not_allowed",
    ]);
  }
  expect(await refusal(endpoint, ALL_WRONG)).toEqual([403, 403, "origin_not_allowed", 41]);
  const pageless = { ...ALL_WRONG, origin: undefined };
  expect(await refusal(endpoint, pageless)).toEqual([401, 401, "missing_token", 41]);
  const known = { ...pageless, authorization: "Bearer good" };
  expect(await refusal(endpoint, known)).toEqual([403, 403, "platform_servers_off", 41]);
  server.world.availability.delete("cti");
  await server.keys.publish({ kind: "setting", id: "platform-servers" });
  expect(await refusal(endpoint, known)).toEqual([415, 415, "unsupported_media_type", 41]);
  expect(await refusal(endpoint, {}, "{")).toEqual([400, -32700, undefined, undefined]);
});

test("no token is a challenge without an error", async () => {
  for (const authorization of [undefined, "Basic abc", "Bearer ", "Bearer"]) {
    const answer = await post(endpoint, LIST.body, { ...LIST.headers, authorization });
    expect([answer.status, answer.headers.get("www-authenticate")]).toEqual([401, CHALLENGE]);
  }
  const inQuery = await post(`${endpoint}?access_token=good`, LIST.body, { ...LIST.headers, authorization: undefined });
  expect(inQuery.status).toBe(401);
});

test.each(["malformed", "unknown", "expired", "revoked", "disabled"] as const)(
  "a token that is %s is a challenge with an error, in both eras",
  async (reason) => {
    server.keys.refuse("bad", reason);
    for (const message of [modern("tools/list", {}, 41), legacy("tools/list", {}, 41)]) {
      const { status, headers, json } = await post(endpoint, message.body, {
        ...message.headers,
        authorization: "Bearer bad",
      });
      expect([status, json.id, json.error.data.error]).toEqual([401, 41, "invalid_token"]);
      const challenge = headers.get("www-authenticate") as string;
      expect(challenge.startsWith(`${CHALLENGE}, error="invalid_token", error_description="`)).toBe(true);
      expect(challenge.match(/scope=|error=/g)).toHaveLength(2);
    }
  },
);

test.each(["$API_KEY", `$${"{API_KEY}"}`, "{env:API_KEY}"])(
  "the token %s is told to be a variable's name",
  async (token) => {
    const { status, json } = await post(endpoint, LIST.body, { ...LIST.headers, authorization: `Bearer ${token}` });
    expect([status, json.error.message]).toEqual([401, expect.stringContaining("environment variable")]);
    expect(server.keys.verified).toEqual([]);
  },
);

test("where nobody can vouch for a token the answer is 503, never a stale yes", async () => {
  expect((await post(endpoint, LIST.body, LIST.headers)).status).toBe(200);
  server.keys.lease = false;
  server.keys.refuse("good", "unavailable");
  const { status, headers, json } = await post(endpoint, LIST.body, LIST.headers);
  expect([status, headers.get("retry-after"), json.error.data.error, json.id]).toEqual([503, "2", "unavailable", 41]);
});

test.each([
  ["cti", EndpointAvailability.PLATFORM_SERVERS_OFF, 403, "platform_servers_off"],
  ["cti", EndpointAvailability.NOT_REGISTERED, 404, "platform_not_registered"],
  ["core", EndpointAvailability.CORE_OFF, 403, "core_off"],
  ["core", EndpointAvailability.AI_OFF, 403, "ai_off"],
])("%s in state %s is refused with %s %s", async (name, state, status, word) => {
  server.world.availability.set(name, state);
  const answer = await post(`${server.url}/mcp/${name}`, LIST.body, LIST.headers);
  expect([answer.status, answer.json.error.data.error, answer.json.id]).toEqual([status, word, 41]);
  expect(answer.json.error.message).toMatch(/administrator/);
});

test("a switch acts at once, and the states are asked for only when it turns", async () => {
  for (let i = 0; i < 3; i++) expect((await post(endpoint, LIST.body, LIST.headers)).status).toBe(200);
  expect(server.world.asked.states).toBe(1);
  server.world.availability.set("cti", EndpointAvailability.PLATFORM_SERVERS_OFF);
  await server.keys.publish({ kind: "setting", id: "platform-servers" });
  expect(server.world.asked.states).toBe(2);
  expect((await post(endpoint, LIST.body, LIST.headers)).status).toBe(403);
});

test("where the states cannot be read the endpoint is closed, not open", async () => {
  server.world.catalogueDown = true;
  const { status, json } = await post(endpoint, LIST.body, LIST.headers);
  expect([status, json.error.data.error, json.id]).toEqual([503, "unavailable", 41]);
});

test("a body above the limit is refused, one below it is read", async () => {
  const filled = (size: number) => JSON.stringify({ ...LIST.body, filler: "x".repeat(size) });
  expect((await post(endpoint, filled(4 * 1024 * 1024 - 1_000), LIST.headers)).status).toBe(200);
  const { status, json } = await post(endpoint, filled(4 * 1024 * 1024), LIST.headers);
  expect([status, json.error.data.error]).toEqual([413, "too_large"]);
});

test.each([
  ["is nested deeper than 64 levels", '{"a":'.repeat(65)],
  ["has more than 100000 values", `[${"1,".repeat(100_001)}`],
])("a body that %s is refused before the rest of it has come, and is not read on", async (excess, begun) => {
  const lines = [...headerLines({}), "content-length: 4000000"];
  const { socket, text } = raw(server.port, requestText("/base/mcp/cti", lines, begun));
  await once(socket, "data");
  socket.destroy();
  expect(text()).toMatch(/^HTTP\/1.1 400 .*\r\nconnection: close\r\n/s);
  expect(text()).toContain(`"Invalid request: the body ${excess}"`);
});

test("of a refused request 64 KiB are read for its id, and no more", async () => {
  const filled = (size: number) => JSON.stringify({ ...LIST.body, filler: "x".repeat(size) });
  const headers = { ...LIST.headers, authorization: undefined };
  expect((await post(endpoint, filled(60_000), headers)).json.id).toBe(41);
  const { status, json } = await post(endpoint, filled(70_000), headers);
  expect([status, "id" in json]).toEqual([401, false]);
});

test("a long header is read, for tokens are long", async () => {
  const token = "t".repeat(15_000);
  server.keys.add(token, { scopes: new Set(["account", "cti:read"]) });
  expect((await post(endpoint, LIST.body, { ...LIST.headers, authorization: `Bearer ${token}` })).status).toBe(200);
});

test("a trailing slash and parameters of the content type change nothing", async () => {
  const headers = { ...LIST.headers, "content-type": "application/json; charset=utf-8" };
  expect((await post(`${endpoint}/`, LIST.body, headers)).status).toBe(200);
});

test("a body that waits for its token's verification is served when that has come", async () => {
  let verified = (): void => undefined;
  server.keys.delay = new Promise((resolve) => {
    verified = resolve;
  });
  const body = JSON.stringify({ ...LIST.body, filler: "x".repeat(1_000_000) });
  const answer = post(endpoint, body, LIST.headers);
  await expect.poll(() => server.keys.verified).toEqual(["good"]);
  verified();
  expect((await answer).json.id).toBe(41);
});

test("of different bad tokens of one address those beyond the budget are 429; a good one is served, new or known", async () => {
  const as = (token: string) => post(endpoint, LIST.body, { ...LIST.headers, authorization: `Bearer ${token}` });
  for (let i = 0; i < 30; i++) expect((await as(`bad-${i}`)).status).toBe(401);
  const { status, headers, json } = await as("bad-99");
  expect([status, json.error.data.error, headers.get("retry-after")]).toEqual([429, "throttled", "60"]);
  expect(json.error.message).toContain("address");
  // Nothing is said of this very token.
  expect(headers.get("www-authenticate")).toBeNull();
  expect([(await as("good")).status, (await as("good")).status]).toEqual([200, 200]);
  // Many at once, and a good one in the middle that nobody has seen yet.
  server.keys.forget();
  const together = await Promise.all(["a", "b", "c", "good", "d", "e", "f"].map((token) => as(token)));
  expect(together.map((answer) => answer.status)).toEqual([429, 429, 429, 200, 429, 429, 429]);
});

test("a verification that nobody could make is not held against the address", async () => {
  const as = (token: string) => post(endpoint, LIST.body, { ...LIST.headers, authorization: `Bearer ${token}` });
  for (let i = 0; i < 40; i++) server.keys.refuse(`waiting-${i}`, "unavailable");
  for (let i = 0; i < 40; i++) expect((await as(`waiting-${i}`)).status).toBe(503);
  expect((await as("bad")).status).toBe(401);
});

test("one bad token tried again and again counts once", async () => {
  for (let i = 0; i < 40; i++) await post(endpoint, LIST.body, { ...LIST.headers, authorization: "Bearer same" });
  expect(server.keys.verified.filter((token) => token === "same")).toHaveLength(40);
});
