import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { post, toolNames } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

let program: Program;
beforeAll(async () => {
  program = await startProgram();
}, 60_000);
afterAll(() => program?.stop());

const SERVERS = ["cti", "aev", "grc", "core"] as const;
const url = (server: string, query = "") => `${program.baseUrl}/mcp/${server}${query}`;
const admin = () => program.bootstrap.admin.api_key;
const analyst = () => program.bootstrap.analyst.api_key;

test.each(SERVERS)("tools/list of %s reads like an API that was reviewed", async (server) => {
  const { body } = await post(url(server, "?output_schemas=1"), admin(), "tools/list");
  await expect(`${JSON.stringify(body.result?.tools, null, 2)}\n`).toMatchFileSnapshot(
    `../snapshots/tools/${server}.json`,
  );
});

test.each(["cti", "core"])("administrator and analyst get different lists on %s", async (server) => {
  const all = await toolNames(url(server), admin());
  const some = await toolNames(url(server), analyst());
  expect(some.length).toBeGreaterThan(0);
  expect(some.length).toBeLessThan(all.length);
  expect(all.filter((name) => some.includes(name))).toEqual(some);
});

describe("a tool that the analyst may not see", () => {
  test.each(["cti", "core"])("answers on %s, byte for byte, as one that does not exist", async (server) => {
    const some = await toolNames(url(server), analyst());
    const hidden = (await toolNames(url(server), admin())).find((name) => !some.includes(name)) as string;
    const unknown = "x".repeat(hidden.length);
    for (const args of [{}, { id: "1" }, { nonsense: true }]) {
      const one = await post(url(server), analyst(), "tools/call", { name: hidden, arguments: args });
      const other = await post(url(server), analyst(), "tools/call", { name: unknown, arguments: args });
      expect(one.status).toBe(other.status);
      expect(one.text.replaceAll(hidden, unknown)).toBe(other.text);
      expect([...one.headers].filter(([name]) => name !== "date")).toEqual(
        [...other.headers].filter(([name]) => name !== "date"),
      );
    }
  });
});

test("narrowing by URL leaves the read tools, or those of a toolset", async () => {
  const all = await toolNames(url("cti"), admin());
  const read = await toolNames(url("cti", "?readonly=1"), admin());
  expect(read.length).toBeLessThan(all.length);
  expect(read).not.toContain("delete_entity");
});

test("the list is the same for the same URL and key", async () => {
  const once = await post(url("cti"), analyst(), "tools/list");
  const again = await post(url("cti"), analyst(), "tools/list");
  expect(again.text).toBe(once.text);
});
