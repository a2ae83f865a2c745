import { afterAll, beforeAll, expect, test } from "vitest";
import { post, toolNames } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

let program: Program;
beforeAll(async () => {
  program = await startProgram();
  // search_knowledge is listed for people who can see a knowledge base: the administrator alone.
  const base = { name: "create_knowledge_base", arguments: { name: "The administrator's own" } };
  await post(url("core"), admin(), "tools/call", base);
});
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

test.each([
  ["cti", /needs the right KNOWLEDGE_KNUPDATE_KNDELETE on the cti platform.*whoami/],
  ["core", /needs a knowledge base that you may read/],
])("a tool of %s that the analyst may not see says which right is missing", async (server, said) => {
  const some = await toolNames(url(server), analyst());
  const hidden = (await toolNames(url(server), admin())).filter((name) => !some.includes(name));
  const answers = await Promise.all(
    hidden.map((name) => post(url(server), analyst(), "tools/call", { name, arguments: { nonsense: true } })),
  );
  for (const { body } of answers) expect(body.result?.isError).toBe(true);
  expect(answers.map(({ text }) => text).join("\n")).toMatch(said);
});

test.each(["cti", "core"])("a name that %s has no tool of is unknown, and nothing more", async (server) => {
  const one = await post(url(server), analyst(), "tools/call", { name: "list_users", arguments: {} });
  const other = await post(url(server), analyst(), "tools/call", { name: "no_such_to", arguments: {} });
  expect(one.status).toBe(other.status);
  expect(one.text.replaceAll("list_users", "no_such_to")).toBe(other.text);
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
