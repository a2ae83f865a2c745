import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../support/foreign.js";
import { call, post } from "../support/mcp.js";
import { type Program, spawnProgram, startProgram } from "../support/program.js";

let program: Program;
let root: string;
let copy: string;
beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "sallyport-backup-"));
  copy = join(root, "copy");
  program = await startProgram({ dataDir: join(root, "data") });
});
afterAll(async () => {
  await program?.stop();
  rmSync(root, { recursive: true, force: true });
});

const said = (dataDir: string, ...args: string[]) =>
  run(process.execPath, ["dist/clients/cli/main.js", ...args, "--json"], {
    env: { ...process.env, DATA_DIR: dataDir },
  });
const cli = async (...args: string[]) => {
  const { stdout, stderr, code } = await said(program.dataDir, ...args);
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
};
const statusOf = async (key: string, server = "cti") =>
  (await post(`${program.baseUrl}/mcp/${server}`, key, "tools/list")).status;
const keyOf = async (email: string): Promise<{ id: string; api_key: string }> =>
  cli("keys", "create", "--user", email, "--name", "k");

/** Creates users as fast as they are taken; gives those that were acknowledged. */
function load(): { readonly done: string[]; stop(): Promise<void> } {
  const done: string[] = [];
  let going = true;
  const { api_key } = program.bootstrap.admin;
  const lanes = Array.from({ length: 4 }, async (_, lane) => {
    for (let i = 0; going; i++) {
      const email = `w${lane}-${i}@example.org`;
      const response = await fetch(`${program.baseUrl}/rpc/auth.v1.UserService/CreateUser`, {
        method: "POST",
        headers: { authorization: `Bearer ${api_key}`, "content-type": "application/json" },
        body: JSON.stringify({ email, name: email }),
      });
      if (response.ok) done.push(email);
    }
  });
  return {
    done,
    async stop() {
      going = false;
      await Promise.all(lanes);
    },
  };
}

/** A value that nobody reads again. */
const SEALED = "sentinel-of-what-is-sealed";
const kept = { good: "", revoked: "", disabled: "", deleted: "", later: "" };

test("a backup taken under load, restored: all that was acknowledged before is there, and nothing that was taken away since comes back", async () => {
  for (const name of ["ana", "bo", "cy"])
    await cli("users", "create", "--email", `${name}@example.com`, "--name", name);
  const [good, revoked] = [await keyOf("ana@example.com"), await keyOf("ana@example.com")];
  const [disabled, deleted] = [await keyOf("bo@example.com"), await keyOf("cy@example.com")];
  Object.assign(kept, { good: good.api_key, revoked: revoked.api_key });
  Object.assign(kept, { disabled: disabled.api_key, deleted: deleted.api_key });

  const variable = { name: "SEALED", value: SEALED, secret: true };
  await call(`${program.baseUrl}/mcp/core`, good.api_key, "create_variable", variable);
  const writes = load();
  await expect.poll(() => writes.done.length, { timeout: 20_000 }).toBeGreaterThan(30);
  const before = [...writes.done];
  await cli("backup", "create", copy);
  await writes.stop();
  expect(before.length).toBeGreaterThan(30);

  await cli("keys", "revoke", revoked.id);
  await cli("users", "disable", "bo@example.com");
  await cli("users", "delete", "cy@example.com");
  await cli("settings", "set", "core", "off");
  kept.later = (await keyOf("ana@example.com")).api_key;
  const last = (await cli("audit", "list", "--limit", "1")).records[0].number;

  const running = await said(program.dataDir, "backup", "restore", copy);
  expect(running.stderr).toMatch(/in use by another process; stop that process/);
  await program.stop();
  const done = JSON.parse((await said(program.dataDir, "backup", "restore", copy)).stdout);
  expect(done).toMatchObject({ ended_keys: 2, switched_off: 1 });
  expect(existsSync(join(done.before, "main/data.mdb"))).toBe(true);
  expect(existsSync(join(program.dataDir, "restoring"))).toBe(false);

  program = await startProgram({ dataDir: program.dataDir });
  const emails = new Set((await cli("users", "list")).users.map(({ email }: { email: string }) => email));
  expect(before.filter((email) => !emails.has(email))).toEqual([]);
  const { good: live, ...dead } = kept;
  expect(await statusOf(live)).toBe(200);
  for (const key of Object.values(dead)) expect(await statusOf(key)).toBe(401);
  expect(await statusOf(live, "core")).toBe(403);
  const records = (await cli("audit", "list", "--limit", "10000")).records as { number: number; action: string }[];
  expect(records.find(({ action }) => action === "restore")?.number).toBe(last + 1);
});

test("the sealing key, the service's key and bootstrap.json are not in it", () => {
  const files = readdirSync(copy, { recursive: true, encoding: "utf8" }).sort();
  const journals = ["_replaced", "audit"].flatMap((name) => [`main/${name}.0.journal`, `main/${name}.1.journal`]);
  const stored = ["main/data.mdb", ...journals, "traces/data.mdb"];
  expect(files).toEqual(["main", "manifest.json", "traces", ...stored].sort());
  const bytes = stored.map((name) => readFileSync(join(copy, name)).toString("latin1")).join("\n");
  for (const name of ["secrets-key", "service-key"]) {
    expect(bytes).not.toContain(readFileSync(join(program.dataDir, name), "utf8").trim());
  }
});

test("on a new machine all keys are revoked, by word of who restores, new first keys made, and secrets sealed with a new key", async () => {
  const elsewhere = join(root, "elsewhere");
  const refused = await said(elsewhere, "backup", "restore", copy);
  expect([refused.code, refused.stderr]).toEqual([1, expect.stringMatching(/--revoke-all-keys/)]);
  const unsealed = await said(elsewhere, "backup", "restore", copy, "--revoke-all-keys");
  expect([unsealed.code, unsealed.stderr]).toEqual([1, expect.stringMatching(/secrets-key is missing/)]);
  expect(readdirSync(elsewhere)).toEqual([]);

  // What was broken off is not started upon.
  mkdirSync(join(elsewhere, "restoring"));
  const child = spawnProgram("services/main.js", [], { PORT: "0", GRPC_PORT: "0", DATA_DIR: elsewhere });
  await expect.poll(() => child.process.exitCode, { timeout: 20_000 }).toBe(1);
  expect(child.output()).toMatch(/a restore into .* did not finish: run it again/);

  copyFileSync(join(program.dataDir, "secrets-key"), join(elsewhere, "secrets-key"));
  const done = JSON.parse((await said(elsewhere, "backup", "restore", copy, "--revoke-all-keys")).stdout);
  expect(done.revoked_keys).toBeGreaterThan(5);
  const before = readFileSync(join(elsewhere, "secrets-key"), "utf8").trim();
  expect(JSON.parse((await said(elsewhere, "secrets", "rotate")).stdout)).toMatchObject({ keys: 2 });
  const [newest, ...older] = readFileSync(join(elsewhere, "secrets-key"), "utf8").trim().split("\n");
  expect([older, newest === before, statSync(join(elsewhere, "secrets-key")).mode & 0o777]).toEqual([
    [before],
    false,
    0o600,
  ]);
  await program.stop();
  program = await startProgram({ dataDir: elsewhere });
  expect(program.output()).toMatch(/"resealed":1,.*secrets of objects sealed with the newest key/);
  expect(program.output()).not.toContain(SEALED);
  expect(program.bootstrap.admin.email).toBe("admin@sallyport.example");
  expect((await cli("users", "get", "ana@example.com")).name).toBe("ana");
  expect(await statusOf(kept.good)).toBe(401);
});
