import { connect } from "node:net";
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventsOf, legacy, modern, post } from "./support/client.js";
import { LIMITS, type Started, start } from "./support/start.js";

let server: Started;
let endpoint: string;

beforeAll(async () => {
  server = await start({ limits: { ...LIMITS, callMs: 3_000 } });
  endpoint = `${server.url}/mcp/cti`;
});
afterAll(() => server.close());

const count = (steps: number, stepMs: number, token?: string | number) => ({
  name: "count_sightings",
  arguments: { steps, step_ms: stepMs },
  ...(token !== undefined && { _meta: { progressToken: token } }),
});

test.each([modern, legacy])("progress comes as a stream of events, the result last (%o)", async (era) => {
  for (const token of ["token", 7]) {
    const { body, headers } = era("tools/call", count(3, 130, token), "call");
    const { text, headers: answered } = await post(endpoint, body, headers);
    expect(answered.get("content-type")).toBe("text/event-stream");
    expect(answered.get("cache-control")).toBe("no-cache, no-transform");
    expect(answered.get("x-accel-buffering")).toBe("no");
    const events = eventsOf(text);
    expect(events.slice(0, -1).map(({ method, params }) => [method, params.progressToken, params.progress])).toEqual([
      ["notifications/progress", token, 1],
      ["notifications/progress", token, 2],
      ["notifications/progress", token, 3],
    ]);
    expect(events.at(-1)).toMatchObject({ id: "call", result: { structuredContent: { counted: 3 } } });
  }
});

test("progress is not told more often than ten times a second, and only ever grows", async () => {
  const { body, headers } = modern("tools/call", count(60, 10, 1));
  const startedAt = performance.now();
  const events = eventsOf((await post(endpoint, body, headers)).text);
  const tenths = (performance.now() - startedAt) / 100;
  const told = events.slice(0, -1).map(({ params }) => params.progress as number);
  expect(told.length).toBeGreaterThan(2);
  expect(told.length).toBeLessThanOrEqual(tenths + 1);
  expect([...told].sort((a, b) => a - b)).toEqual(told);
});

test.each([
  ["no token", count(2, 1), "application/json, text/event-stream"],
  ["a client that takes JSON only", count(2, 1, 1), "application/json"],
  ["a client that takes anything", count(2, 1, 1), "*/*"],
  ["a client that says nothing", count(2, 1, 1), ""],
  [
    "a call without progress",
    { name: "echo_sighting", _meta: { progressToken: 1 } },
    "text/event-stream, application/json",
  ],
])("%s: the answer is JSON", async (_what, params, accept) => {
  const { body, headers } = modern("tools/call", params);
  const answer = await post(endpoint, body, { ...headers, accept });
  expect(answer.headers.get("content-type")).toBe("application/json");
  expect(answer.json.result.resultType).toBe("complete");
});

test("a client that takes events only gets its list as one", async () => {
  for (const { body, headers } of [modern("tools/list"), legacy("tools/list")]) {
    const answer = await post(endpoint, body, { ...headers, accept: "text/event-stream" });
    expect(eventsOf(answer.text)[0].result.tools.length).toBe(7);
  }
});

test("a client that takes events only gets its answer as one", async () => {
  const { body, headers } = modern("tools/call", { name: "echo_sighting" });
  const answer = await post(endpoint, body, { ...headers, accept: "text/event-stream" });
  expect(eventsOf(answer.text)).toMatchObject([{ id: 1, result: { resultType: "complete" } }]);
});

/** Calls the waiting tool on a socket of its own and hangs up once the service has the call. */
async function hangUp(era: typeof modern, name: string): Promise<AbortSignal> {
  const { body, headers } = era("tools/call", { name: "wait_for_sighting", arguments: { name } });
  const text = JSON.stringify(body);
  const lines = Object.entries({
    host: "127.0.0.1",
    authorization: "Bearer good",
    "content-type": "application/json",
    "content-length": String(Buffer.byteLength(text)),
    ...headers,
  }).map(([key, value]) => `${key}: ${value}\r\n`);
  const socket = connect(server.port, "127.0.0.1");
  socket.write(`POST /base/mcp/cti HTTP/1.1\r\n${lines.join("")}\r\n${text}`);
  await expect.poll(() => server.world.waiting.get(name)).toBeDefined();
  socket.destroy();
  return server.world.waiting.get(name) as AbortSignal;
}

test("a modern client that hangs up has cancelled: the service's signal is aborted", async () => {
  const signal = await hangUp(modern, "modern");
  await expect.poll(() => signal.aborted, { timeout: 1_000 }).toBe(true);
});

test("a legacy client that hangs up has not: the call goes on to its deadline", async () => {
  const signal = await hangUp(legacy as typeof modern, "legacy");
  await post(endpoint, legacy("ping").body);
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(signal.aborted).toBe(false);
  await expect.poll(() => signal.aborted, { timeout: 5_000 }).toBe(true);
});

test.each([modern, legacy])("a call that takes too long is a result that says so (%o)", async (era) => {
  const { body, headers } = era("tools/call", { name: "wait_for_sighting", arguments: { name: "slow" } });
  const { json, status } = await post(endpoint, body, headers);
  expect([status, json.result.isError, json.result.content[0].text]).toEqual([
    200,
    true,
    expect.stringContaining("in time"),
  ]);
});

test.each([modern, legacy])("a key that is revoked while its call runs gets no result (%o)", async (era) => {
  const name = `revoked in ${era.name}`;
  server.keys.add(name, { scopes: server.keys.add("x", { scopes: new Set(["cti:read", "account"]) }).caller.scopes });
  const { body, headers } = era("tools/call", { name: "wait_for_sighting", arguments: { name } }, 9);
  const pending = post(endpoint, body, { ...headers, authorization: `Bearer ${name}` });
  await expect.poll(() => server.world.waiting.get(name)).toBeDefined();
  server.keys.revoke(name);
  const { status, json } = await pending;
  expect([status, json.id, json.error.data.error]).toEqual([401, 9, "invalid_token"]);
  expect(server.world.waiting.get(name)?.aborted).toBe(true);
});

test.each([modern, legacy])(
  "a lapsed lease is no revocation: the call hears nothing bad of its key (%o)",
  async (era) => {
    const name = `lapsed in ${era.name}`;
    const { body, headers } = era("tools/call", { name: "wait_for_sighting", arguments: { name } }, 9);
    const pending = post(endpoint, body, headers);
    await expect.poll(() => server.world.waiting.get(name)).toBeDefined();
    server.keys.lapse();
    const { status, json } = await pending;
    expect([status, json.result.isError]).toEqual([200, true]);
    expect(json.result.content[0].text).toMatch(/says nothing about your key.*may or may not have been made/);
    expect(JSON.stringify(json)).not.toContain("revoked");
  },
);

test("a key that is revoked while its stream is open ends the stream with an error", async () => {
  server.keys.add("streaming", { scopes: new Set(["cti:read", "account"]) });
  const { body, headers } = modern("tools/call", count(100, 25, 1), 9);
  const response = await fetch(endpoint, {
    method: "POST",
    headers: {
      ...headers,
      "content-type": "application/json",
      accept: "text/event-stream, application/json",
      authorization: "Bearer streaming",
    },
    body: JSON.stringify(body),
  });
  const reader = (response.body as ReadableStream<Uint8Array>).getReader();
  await reader.read();
  server.keys.revoke("streaming");
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    rest += Buffer.from(value).toString();
  }
  expect(eventsOf(rest).at(-1)).toMatchObject({
    id: 9,
    error: { code: -32603, message: "The credential was revoked: create a new API key, or sign in again" },
  });
});
