import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../support/foreign.js";
import { post, toolNames } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

let program: Program;
beforeAll(async () => {
  program = await startProgram();
}, 60_000);
afterAll(() => program?.stop());

const cli = async (...args: string[]) => {
  const done = await run(process.execPath, ["dist/clients/cli/main.js", ...args], {
    env: { ...process.env, DATA_DIR: program.dataDir },
  });
  return { ...done, json: done.stdout === "" ? undefined : JSON.parse(done.stdout) };
};

test("a user and a key are made, used and revoked", async () => {
  const email = "ana@example.org";
  const user = await cli("users", "create", "--email", email, "--name", "Ana", "--json");
  expect(user.json).toMatchObject({ email, name: "Ana", admin: false });
  const key = await cli("keys", "create", "--user", email, "--name", "desk", "--expires", "90d", "--json");
  expect(key.json).toEqual({ id: expect.any(String), api_key: expect.stringMatching(/^slp_/) });
  const core = `${program.baseUrl}/mcp/core`;
  expect((await post(core, key.json.api_key, "tools/list")).status).toBe(200);
  expect((await cli("keys", "list", "--user", email)).json.keys).toMatchObject([{ id: key.json.id, name: "desk" }]);
  expect((await cli("keys", "revoke", key.json.id)).json).toEqual({ id: key.json.id, revoked: true });
  expect((await post(core, key.json.api_key, "tools/list")).status).toBe(401);
}, 60_000);

test("a user who is disabled is refused at once, and served again when enabled", async () => {
  const { email, api_key } = program.bootstrap.analyst;
  const core = `${program.baseUrl}/mcp/core`;
  expect((await cli("users", "disable", email)).json).toMatchObject({ email, disabled: true });
  const refused = await post(core, api_key, "tools/list");
  expect(refused.status).toBe(401);
  expect((await cli("users", "enable", email)).json).toMatchObject({ email, disabled: false });
  expect((await post(core, api_key, "tools/list")).status).toBe(200);
}, 60_000);

test("--help shows how it is used and is no failure", async () => {
  const help = await run(process.execPath, ["dist/clients/cli/main.js", "keys", "--help"]);
  expect(help.code).toBe(0);
  expect(help.stdout).toContain("keys revoke ID");
  expect(help.stdout).not.toContain("users create");
});

test("a key made with the read scopes lists no tool that writes", async () => {
  const key = await cli(
    "keys",
    "create",
    "--user",
    program.bootstrap.admin.email,
    "--name",
    "reader",
    "--scopes",
    "cti:read",
  );
  const names = await toolNames(`${program.baseUrl}/mcp/cti`, key.json.api_key);
  expect(names).toContain("whoami");
  expect(names.some((name) => /^(create|update|delete|add|remove)_/.test(name))).toBe(false);
}, 60_000);

test("a switch acts at once", async () => {
  const url = (server: string) => `${program.baseUrl}/mcp/${server}`;
  const { api_key: key } = program.bootstrap.admin;
  const statusOf = async (server: string) => (await post(url(server), key, "tools/list")).status;
  expect((await cli("settings", "set", "platform-servers", "off")).json).toMatchObject({ platform_servers: "off" });
  expect([await statusOf("cti"), await statusOf("core")]).toEqual([403, 200]);
  await cli("settings", "set", "platform-servers", "on");
  await cli("settings", "set", "core", "off");
  expect([await statusOf("cti"), await statusOf("core")]).toEqual([200, 403]);
  await cli("settings", "set", "core", "on");
  await cli("settings", "set", "ai", "off");
  expect(await statusOf("core")).toBe(403);
  expect((await cli("settings", "set", "ai", "on")).json).toEqual({ platform_servers: "on", core: "on", ai: "on" });
}, 60_000);

test("the platforms are listed with their state", async () => {
  const { json } = await cli("platforms", "list", "--json");
  expect(json.platforms).toMatchObject([
    { server: "cti", state: "connected" },
    { server: "aev", state: "connected" },
    { server: "grc", state: "connected" },
  ]);
}, 30_000);

test("a tool is called, and its refusal is told on standard error", async () => {
  const good = await cli("tools", "call", "grc", "list_tenants", "{}");
  expect(good.code).toBe(0);
  expect(good.json).toHaveProperty("tenants");
  const bad = await cli("tools", "call", "cti", "get_entity", '{"colour":"red"}');
  expect([bad.code, bad.stdout]).toEqual([1, ""]);
  expect(bad.stderr).toMatch(/colour/);
}, 30_000);

test.each([
  ["nothing", [], /usage: .*NOUN VERB/],
  ["an unknown verb", ["users", "destroy"], /usage/],
  ["a missing flag", ["users", "create", "--name", "N"], /--email EMAIL/],
  ["broken JSON", ["tools", "call", "cti", "whoami", "{"], /not JSON/],
  ["a span that is none", ["keys", "create", "--user", "a@b.org", "--name", "n", "--expires", "soon"], /90d/],
  ["a stranger's key", ["settings", "get", "--url", "BASE", "--key", "nothing"], /./],
])(
  "%s is refused with exit code 1 and a reason",
  async (_what, args, said) => {
    const done = await cli(...args.map((arg) => (arg === "BASE" ? program.baseUrl : arg)));
    expect([done.code, done.stdout]).toEqual([1, ""]);
    expect(done.stderr).toMatch(said);
  },
  30_000,
);

test("an analyst is refused what administrators may", async () => {
  const done = await cli(
    "settings",
    "set",
    "core",
    "off",
    "--url",
    program.baseUrl,
    "--key",
    program.bootstrap.analyst.api_key,
  );
  expect(done.code).toBe(1);
  expect(done.stderr).toContain("admin");
}, 30_000);
