import { afterEach, beforeEach, expect, test } from "vitest";
import { createShares } from "../../services/shared/limits/shares.js";
import { answerOf, legacy, modern, post } from "./support/client.js";
import { CTI, MANY, type Started, start } from "./support/start.js";

// How many calls a key may make, at both doors of the façade. The clock stands
// still, so that no call comes back.

let server: Started;
let endpoint: string;

beforeEach(async () => {
  const shares = createShares({ perKey: { perSecond: 0.1, burst: 2 }, perUser: MANY }, () => 0);
  server = await start({ shares });
  server.keys.add("other", { scopes: CTI });
  endpoint = `${server.url}/mcp/cti`;
});
afterEach(() => server.close());

const call = modern("tools/call", { name: "echo_sighting", arguments: {} }, 7);

function rpc(type: string, body: string | Uint8Array = "{}") {
  const headers = { "content-type": type, authorization: "Bearer good" };
  return fetch(`${server.url}/rpc/cti.fixture.v1.SightingService/EchoSighting`, { method: "POST", headers, body });
}

test.each(["2026-07-28", "2025-11-25"])("one call of a tool too many is 429, of %s", async (version) => {
  const { body, headers } =
    version === "2026-07-28" ? call : legacy("tools/call", { name: "echo_sighting", arguments: {} }, 7);
  const answers = [];
  for (let i = 0; i < 3; i++) answers.push(await post(endpoint, body, headers));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(answers[2]?.headers.get("retry-after")).toBe("10");
  expect(answers[2]?.json).toEqual({
    jsonrpc: "2.0",
    id: 7,
    error: {
      code: 429,
      message: expect.stringContaining("wait 10 s, then call again"),
      data: { error: "too_many_calls" },
    },
  });
});

test("one call too many of a tool that writes says that nothing was changed", async () => {
  const write = modern("tools/call", { name: "fail_sighting", arguments: {} });
  const answers = [];
  for (let i = 0; i < 3; i++) answers.push(await post(endpoint, write.body, write.headers));
  expect(answers[2]?.json.error.data).toEqual({ error: "too_many_calls", "sallyport/write_outcome": "unchanged" });
});

test("a call that is refused for want of a right is one too", async () => {
  server.world.visible.set("user of good", ["page_sightings"]);
  const answers = [];
  for (let i = 0; i < 3; i++) answers.push(await post(endpoint, call.body, call.headers));
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect([answers[1]?.json.result.isError, server.world.asked.reasons]).toEqual([true, 2]);
});

test("lists and probes are not calls, and another key has its own", async () => {
  for (let i = 0; i < 3; i++) await post(endpoint, call.body, call.headers);
  for (const { body, headers } of [modern("tools/list"), modern("server/discover"), legacy("ping")]) {
    expect((await post(endpoint, body, headers)).status).toBe(200);
  }
  expect((await post(endpoint, call.body, { ...call.headers, authorization: "Bearer other" })).status).toBe(200);
});

test("each call of a batch counts", async () => {
  const one = (id: number) => legacy("tools/call", { name: "echo_sighting", arguments: {} }, id).body;
  const { json } = await post(endpoint, [one(1), one(2), one(3)], { "mcp-protocol-version": "2025-03-26" });
  expect(json.map(({ error }: { error?: { code: number } }) => error?.code)).toEqual([undefined, undefined, 429]);
});

test("/rpc takes of the same, and says so as each protocol does", async () => {
  expect((await post(endpoint, call.body, call.headers)).status).toBe(200);
  expect((await rpc("application/json")).status).toBe(200);
  const refused = await answerOf(await rpc("application/json"));
  expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "10"]);
  expect(refused.json).toMatchObject({ code: "resource_exhausted", message: expect.stringContaining("wait 10 s") });
  expect(refused.json.details).toMatchObject([{ type: "google.rpc.RetryInfo" }]);
  const web = await rpc("application/grpc-web+proto", new Uint8Array(5));
  expect([web.headers.get("grpc-status"), web.headers.get("retry-after")]).toEqual(["8", "10"]);
  expect((await post(endpoint, call.body, call.headers)).status).toBe(429);
});
