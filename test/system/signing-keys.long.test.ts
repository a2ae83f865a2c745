import { randomBytes } from "node:crypto";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../support/foreign.js";
import { post } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

let program: Program;
beforeAll(async () => {
  program = await startProgram({ args: ["--workers", "2"], keepData: true });
});
afterAll(async () => {
  await program?.stop();
  program?.forget();
});

const cli = async (...args: string[]) => {
  const env = { ...process.env, DATA_DIR: program.dataDir };
  const done = await run(process.execPath, ["dist/clients/cli/main.js", "signing-keys", ...args, "--json"], { env });
  return { ...done, json: done.stdout === "" ? undefined : JSON.parse(done.stdout) };
};

interface Listed {
  readonly ring: string;
  readonly kid: string;
  readonly state: string;
  readonly signs_from: string;
  readonly removed_at?: string;
}
const list = async (ring: string) => ((await cli("list")).json.keys as Listed[]).filter((key) => key.ring === ring);
const published = async () => {
  const { keys } = (await (await fetch(`${program.baseUrl}/xtm/auth/jwks`)).json()) as { keys: { kid: string }[] };
  return keys.map(({ kid }) => kid);
};
/** The ids of revoked keys, in their order. */
const revoked: string[] = [];
/** `--` because one key of 64 begins with a dash. */
const revoke = async (ring: string, kid: string) => {
  revoked.push(kid);
  const env = { ...process.env, DATA_DIR: program.dataDir };
  const args = ["dist/clients/cli/main.js", "signing-keys", "revoke", "--json", "--", ring, kid];
  return JSON.parse((await run(process.execPath, args, { env })).stdout);
};

test("a ring is rotated by command, once at a time", async () => {
  const [old] = await list("platform");
  const { json } = await cli("rotate", "platform");
  expect(json).toMatchObject({ ring: "platform", old_kid: old?.kid });
  expect(await list("platform")).toMatchObject([
    { kid: json.new_kid, state: "published", signs_from: json.signs_from },
    { kid: old?.kid, state: "signing", removed_at: json.old_removed_at },
  ]);
  expect(await published()).toEqual([json.new_kid, old?.kid]);
  const again = await cli("rotate", "platform");
  expect([again.code, again.stderr]).toEqual([5, expect.stringMatching(/under way.*signs from/s)]);
  expect((await cli("rotate", "master")).code).toBe(2);
});

test("a platform key that is revoked is published no more, and the other one signs", async () => {
  const [waiting, signing] = await list("platform");
  const answer = await revoke("platform", signing?.kid as string);
  expect(answer).toMatchObject({ revoked: true, signing_kid: waiting?.kid, next: expect.stringMatching(/one hour/) });
  expect(await published()).toEqual([waiting?.kid]);
});

test("after the assertion key is revoked, calls go on by the next one", async () => {
  const key = program.bootstrap.analyst.api_key;
  const call = async () => (await post(`${program.baseUrl}/mcp/core`, key, "tools/list")).status;
  expect(await call()).toBe(200);
  for (let i = 0; i < 3; i++) {
    const [signing] = await list("assertion");
    await revoke("assertion", signing?.kid as string);
    expect(await Promise.all(Array.from({ length: 8 }, call))).toEqual(Array(8).fill(200));
    expect((await list("assertion")).map(({ kid }) => kid)).not.toContain(signing?.kid);
  }
});

test("each is in the audit, with the ring or the key", async () => {
  const env = { ...process.env, DATA_DIR: program.dataDir };
  const done = await run(process.execPath, ["dist/clients/cli/main.js", "audit", "list", "--json"], { env });
  const { records } = JSON.parse(done.stdout) as { records: { action: string; target: string; outcome: string }[] };
  const said = records.filter(({ action }) => action.startsWith("auth.v1.KeyRingService/")).toReversed();
  expect(said.slice(0, 3)).toMatchObject([
    { action: "auth.v1.KeyRingService/RotateKeyRing", target: "platform", outcome: "ok" },
    { action: "auth.v1.KeyRingService/RotateKeyRing", target: "platform", outcome: "failed_precondition" },
    { action: "auth.v1.KeyRingService/RevokeSigningKey", target: revoked[0], outcome: "ok" },
  ]);
  expect(said.slice(2).map(({ target }) => target)).toEqual(revoked);
});

test("without the key that sealed them the start says what to do, and with that done the service starts", async () => {
  const before = await published();
  await program.stop();
  const { dataDir } = program;
  rmSync(join(dataDir, "secrets-key"));
  const lost = await startProgram({ dataDir }).then(
    () => "it started",
    (error: Error) => error.message,
  );
  expect(lost).toMatch(/encrypted with another key.*restore secrets-key.*signing-keys reset.*docs\/signing-keys\.md/s);
  const wrong = { SECRETS_KEY: randomBytes(32).toString("base64url") };
  await expect(startProgram({ dataDir, env: wrong })).rejects.toThrow(/encrypted with another key/);
  expect((await cli("reset")).json).toMatchObject({ removed_keys: 3, next: expect.stringMatching(/start/) });
  program = await startProgram({ dataDir, keepData: true });
  expect(await published()).toHaveLength(1);
  expect(before).not.toContain((await published())[0]);
  expect((await post(`${program.baseUrl}/mcp/core`, program.bootstrap.analyst.api_key, "tools/list")).status).toBe(200);
  const running = await cli("reset");
  expect([running.code, running.stderr]).toEqual([1, expect.stringMatching(/in use|another process|running/)]);
});
