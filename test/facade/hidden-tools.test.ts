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

/** Sends the same call for a hidden tool and for one that does not exist; gives both answers with the name taken out. */
async function both(
  name: string,
  args: unknown,
  more: Record<string, string> = {},
): Promise<{ readonly hidden: unknown; readonly unknown: unknown }> {
  const unknownName = `z${name.slice(1)}`;
  const answers = [];
  for (const era of [modern, legacy]) {
    for (const tool of [name, unknownName]) {
      const message = era("tools/call", { name: tool, arguments: args });
      const answer = await post(endpoint, message.body, {
        ...message.headers,
        ...more,
        authorization: "Bearer limited",
      });
      const headers = [...answer.headers].filter(([key]) => key !== "date");
      answers.push({ status: answer.status, headers, text: answer.text.replaceAll(tool, "NAME") });
    }
  }
  return { hidden: [answers[0], answers[2]], unknown: [answers[1], answers[3]] };
}

test.each(HIDDEN)("%s, hidden, answers byte for byte as a tool that does not exist", async (name) => {
  for (const args of [{}, { id: "1" }, { nonsense: [1] }, { region: "eu" }]) {
    for (const headers of [{}, { "mcp-param-region": "us" }, { "mcp-param-rank": "=?base64?!?=" }]) {
      const { hidden, unknown } = await both(name, args, headers as Record<string, string>);
      expect(hidden).toEqual(unknown);
    }
  }
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
