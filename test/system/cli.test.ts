import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../support/foreign.js";
import { post, toolNames } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

let program: Program;
const folder = mkdtempSync(join(tmpdir(), "sallyport-"));
const auditFile = join(folder, "audit.jsonl");
beforeAll(async () => {
  program = await startProgram({ env: { AUDIT_RECEIVERS: pathToFileURL(auditFile).href } });
});
afterAll(async () => {
  await program?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** What people see. */
const people = (...args: string[]) =>
  run(process.execPath, ["dist/clients/cli/main.js", ...args], { env: { ...process.env, DATA_DIR: program.dataDir } });

/** What programs read. */
const cli = async (...args: string[]) => {
  const done = await people(...args, "--json");
  return { ...done, json: done.stdout === "" ? undefined : JSON.parse(done.stdout) };
};

test("a user and a key are made, used and revoked", async () => {
  const email = "ana@example.org";
  const user = await cli("users", "create", "--email", email, "--name", "Ana");
  expect(user.json).toMatchObject({ email, name: "Ana", admin: false });
  const key = await cli("keys", "create", "--user", email, "--name", "desk", "--expires", "90d");
  expect(key.json).toEqual({ id: expect.any(String), api_key: expect.stringMatching(/^slp_/) });
  const core = `${program.baseUrl}/mcp/core`;
  expect((await post(core, key.json.api_key, "tools/list")).status).toBe(200);
  expect((await cli("keys", "list", "--user", email)).json.keys).toMatchObject([{ id: key.json.id, name: "desk" }]);
  expect((await cli("keys", "revoke", key.json.id)).json).toEqual({ id: key.json.id, revoked: true });
  expect((await post(core, key.json.api_key, "tools/list")).status).toBe(401);
});

test("a user who is disabled is refused at once, and served again when enabled", async () => {
  const { email, api_key } = program.bootstrap.analyst;
  const core = `${program.baseUrl}/mcp/core`;
  expect((await cli("users", "disable", email)).json).toMatchObject({ email, disabled: true });
  const refused = await post(core, api_key, "tools/list");
  expect(refused.status).toBe(401);
  expect((await cli("users", "enable", email)).json).toMatchObject({ email, disabled: false });
  expect((await post(core, api_key, "tools/list")).status).toBe(200);
});

test("a key is rotated with an overlap, given another expiry, and ended", async () => {
  const { email } = program.bootstrap.analyst;
  const core = `${program.baseUrl}/mcp/core`;
  const statusOf = async (key: string) => (await post(core, key, "tools/list")).status;
  const first = (await cli("keys", "create", "--user", email, "--name", "editor", "--scopes", "cti:read")).json;
  const second = (await cli("keys", "rotate", first.id, "--overlap", "1h")).json;
  expect(second).toMatchObject({ old_id: first.id, api_key: expect.stringMatching(/^slp_/) });
  expect([await statusOf(first.api_key), await statusOf(second.api_key)]).toEqual([200, 200]);
  const { keys } = (await cli("keys", "list", "--user", email)).json;
  expect(keys.find(({ id }: { id: string }) => id === second.id)).toMatchObject({
    name: "editor",
    scopes: ["cti:read"],
  });
  const third = (await cli("keys", "rotate", second.id)).json;
  expect([await statusOf(second.api_key), await statusOf(third.api_key)]).toEqual([401, 200]);
  const soon = (await cli("keys", "expire", third.id, "--in", "2d")).json;
  expect(Date.parse(soon.expires_at) - Date.now()).toBeGreaterThan(47 * 3_600_000);
  expect((await cli("keys", "expire", third.id, "--never")).json.expires_at).toBeUndefined();
});

test("a user is shown, changed, put in groups and deleted, and then no key of the user is served", async () => {
  const email = "bo@example.org";
  await cli("users", "create", "--email", email, "--name", "Bo");
  const { api_key: key } = (await cli("keys", "create", "--user", email, "--name", "desk")).json;
  await cli("groups", "create", "--name", "Responders");
  await cli("groups", "add", "responders", email, program.bootstrap.analyst.email);
  await cli("users", "update", email, "--name", "Bo B.", "--verified", "no");
  expect((await cli("users", "get", email)).json).toMatchObject({
    name: "Bo B.",
    email_verified: false,
    group_names: ["Responders"],
  });
  expect((await cli("users", "list", "--group", "Responders")).json.users).toHaveLength(2);
  await cli("groups", "remove", "Responders", email);
  expect((await cli("groups", "list")).json.groups).toContainEqual(
    expect.objectContaining({ name: "Responders", members: 1 }),
  );
  await cli("groups", "rename", "Responders", "--name", "On call");
  expect((await cli("groups", "delete", "On call")).json).toMatchObject({ deleted: true });
  expect((await cli("users", "delete", email)).json).toMatchObject({ email, deleted: true, revoked_keys: 1 });
  expect((await post(`${program.baseUrl}/mcp/core`, key, "tools/list")).status).toBe(401);
  expect((await cli("users", "get", email)).code).toBe(4);
});

test("people see tables, and times where they are", async () => {
  const list = await people("users", "list");
  expect(list.stdout).toMatch(/^EMAIL +NAME +ADMIN +DISABLED +CREATED AT +ID\n/);
  expect(list.stdout).toMatch(/\nadmin@sallyport\.example +Administrator +yes +no +\d{4}-\d\d-\d\d \d\d:\d\d:\d\d /);
  expect((await people("settings", "get")).stdout).toContain("platform servers  on\n");
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
});

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
});

test("the platforms are listed with their state", async () => {
  const { json } = await cli("platforms", "list");
  expect(json.platforms).toMatchObject([
    { server: "cti", state: "connected" },
    { server: "aev", state: "connected" },
    { server: "grc", state: "connected" },
  ]);
});

test("a tool is called, and its refusal is told on standard error", async () => {
  const good = await cli("tools", "call", "grc", "list_tenants", "{}");
  expect(good.code).toBe(0);
  expect(good.json).toHaveProperty("tenants");
  const bad = await cli("tools", "call", "cti", "get_entity", '{"colour":"red"}');
  expect([bad.code, bad.stdout]).toEqual([1, ""]);
  expect(bad.stderr).toMatch(/colour/);
});

test.each([
  ["broken JSON", 2, ["tools", "call", "cti", "whoami", "{"], /not JSON/],
  ["an unknown tool", 2, ["tools", "call", "cti", "no_such_tool", "{}"], /Unknown tool/],
  ["a user who is not there", 4, ["users", "get", "nobody@example.org"], /there is no user/],
  [
    "an address that is taken",
    5,
    ["users", "create", "--email", "analyst@sallyport.example", "--name", "A"],
    /already/,
  ],
  ["a stranger's key", 3, ["settings", "get", "--url", "BASE", "--key", "nothing"], /./],
  ["a service that is not there", 6, ["settings", "get", "--url", "http://127.0.0.1:9"], /does not answer/],
] as const)(
  "%s ends with exit code %i and a reason",
  async (_what, code, args, said) => {
    const done = await cli(...args.map((arg) => (arg === "BASE" ? program.baseUrl : arg)));
    expect([done.code, done.stdout]).toEqual([code, ""]);
    expect(done.stderr).toMatch(said);
  },
  30_000,
);

test.skipIf(!existsSync("/usr/bin/script"))("in a terminal, files that are added show how far they are", async () => {
  await cli("tools", "call", "core", "create_knowledge_base", '{"name": "Large"}');
  const files = join(folder, "files");
  mkdirSync(files);
  for (const n of [1, 2, 3])
    writeFileSync(join(files, `${n}.html`), `<p>Page ${n}.</p><img src="data:${"A".repeat(5_000_000)}">`);
  const env = { ...process.env, DATA_DIR: program.dataDir, COLUMNS: "120" };
  const command = `${process.execPath} dist/clients/cli/main.js knowledge add Large ${files}`;
  const { stdout } = await run("/usr/bin/script", ["--quiet", "--return", "--command", command, "/dev/null"], { env });
  const shown = [...stdout.matchAll(/(Sending|Reading) \S+ (\d+)% \| (\P{Cc}*)/gu)];
  const percents = (doing: string) => shown.flatMap(([, what, percent]) => (what === doing ? [Number(percent)] : []));
  for (const doing of ["Sending", "Reading"]) {
    expect(percents(doing)).toEqual(percents(doing).toSorted((a, b) => a - b));
    expect(percents(doing).at(-1)).toBe(100);
  }
  // Some way through a file, and the file's name beside it.
  expect(percents("Sending").some((one) => one > 0 && one < 100)).toBe(true);
  expect(shown.map(([, , , what]) => what)).toContain("3.html");
  expect(stdout).toContain("3 added, 0 already there, 0 not added");
});

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
  expect(done.code).toBe(3);
  expect(done.stderr).toContain("admin");
});

test("the chain of audit records is checked in the store and in a file, and a record that was changed is found", async () => {
  await cli("users", "create", "--email", "audited@example.org", "--name", "Audited");
  await expect.poll(() => readFileSync(auditFile, "utf8")).toContain("audited@example.org");
  const store = await cli("audit", "verify");
  expect(store.json).toMatchObject({ missing: 0, problem_count: 0, problems: [] });
  const file = await cli("audit", "verify", "--file", auditFile);
  expect(file.json).toMatchObject({ missing: 0, first: 1, problem_count: 0 });
  const changed = join(folder, "changed.jsonl");
  writeFileSync(changed, readFileSync(auditFile, "utf8").replace("audited@example.org", "nobody@example.org"));
  const found = await cli("audit", "verify", "--file", changed);
  expect(found.code).toBe(1);
  expect(found.json.problems).toEqual([expect.objectContaining({ reason: expect.stringContaining("it was changed") })]);
});
