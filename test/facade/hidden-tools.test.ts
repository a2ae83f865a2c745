import { afterAll, beforeAll, expect, test } from "vitest";
import { legacy, modern, post } from "./support/client.js";
import { ALL_TOOLS } from "./support/services.js";
import { CTI, type Started, start } from "./support/start.js";

let server: Started;
let endpoint: string;

beforeAll(async () => {
  server = await start();
  endpoint = `${server.url}/mcp/cti`;
  server.keys.add("limited", { scopes: CTI });
  server.world.visible.set("user of limited", ["echo_sighting"]);
});
afterAll(() => server.close());

const HIDDEN = ALL_TOOLS.filter((name) => name !== "echo_sighting");

test.each(HIDDEN)("%s, hidden, is answered by why, whatever comes with the call", async (name) => {
  for (const args of [{}, { id: "1" }, { nonsense: [1] }, { region: "eu" }]) {
    for (const more of [{}, { "mcp-param-region": "us" }, { "mcp-param-rank": "=?base64?!?=" }]) {
      for (const era of [modern, legacy]) {
        const { body, headers } = era("tools/call", { name, arguments: args });
        const { status, json } = await post(endpoint, body, { ...headers, ...more, authorization: "Bearer limited" });
        expect([status, json.result.isError, json.result.content]).toEqual([
          200,
          true,
          [{ type: "text", text: `${name} needs what you lack` }],
        ]);
      }
    }
  }
});

test("a name that no tool has is unknown, and nobody is asked about it", async () => {
  const before = server.world.asked.reasons;
  for (const era of [modern, legacy]) {
    const { body, headers } = era("tools/call", { name: "no_such", arguments: {} });
    const { json } = await post(endpoint, body, { ...headers, authorization: "Bearer limited" });
    expect(json.error).toEqual({ code: -32602, message: "Unknown tool: no_such" });
  }
  expect(server.world.asked.reasons).toBe(before);
});

test("the list of a caller holds what that caller may see", async () => {
  const { body, headers } = modern("tools/list");
  const { json } = await post(endpoint, body, { ...headers, authorization: "Bearer limited" });
  expect(json.result.tools.map((tool: { name: string }) => tool.name)).toEqual(["echo_sighting"]);
});

test("a change of what a user may see holds for the request after it was acknowledged", async () => {
  const { body, headers } = modern("tools/list");
  const names = async () =>
    (await post(endpoint, body, { ...headers, authorization: "Bearer limited" })).json.result.tools.length;
  expect(await names()).toBe(1);
  server.world.visible.set("user of limited", ["echo_sighting", "fail_sighting"]);
  expect(await names()).toBe(1);
  await server.keys.publish({ kind: "user", id: "user of limited" });
  expect(await names()).toBe(2);
});

test("where an answer may not be kept the catalogue is asked each time", async () => {
  server.world.keepMs = 0;
  await server.keys.publish({ kind: "reset", id: "" });
  const before = server.world.asked.visible;
  const { body, headers } = modern("tools/list");
  for (let i = 0; i < 3; i++) await post(endpoint, body, headers);
  expect(server.world.asked.visible).toBe(before + 3);
  server.world.keepMs = 60_000;
});

test("where the catalogue cannot say, lists and calls are told to try again, in both eras", async () => {
  await server.keys.publish({ kind: "user", id: "user of good" });
  server.world.catalogueDown = true;
  const call = { name: "echo_sighting", arguments: { name: "x" } };
  const hidden = await post(endpoint, modern("tools/call", { name: "fail_sighting" }).body, {
    ...modern("tools/call", { name: "fail_sighting" }).headers,
    authorization: "Bearer limited",
  });
  expect([hidden.status, hidden.json.error.data]).toEqual([503, { error: "unavailable" }]);
  for (const { body, headers } of [modern, legacy].flatMap((era) => [era("tools/list"), era("tools/call", call)])) {
    const { status, json, headers: said } = await post(endpoint, body, headers);
    expect([status, json.error.code, json.error.data]).toEqual([503, 503, { error: "unavailable" }]);
    expect([json.error.message, said.get("retry-after")]).toEqual([expect.stringContaining("try again"), "2"]);
  }
  // Nobody is kept from connecting by it.
  for (const { body, headers } of [
    modern("server/discover"),
    legacy("initialize", { protocolVersion: "2025-11-25" }),
  ]) {
    const { status, json } = await post(endpoint, body, headers);
    expect([status, json.result.instructions]).toEqual([200, expect.stringContaining("try again")]);
  }
  server.world.catalogueDown = false;
});
