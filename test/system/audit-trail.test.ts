import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../support/foreign.js";
import { call, post } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

interface AuditRow {
  readonly number: number;
  readonly at: string;
  readonly user: string;
  readonly action: string;
  readonly target: string;
  readonly arguments: readonly string[];
  readonly outcome: string;
}

/** A look takes most of a second. */
const SOON = { timeout: 15_000 };
const MAIN = "dist/clients/cli/main.js";
let program: Program;
beforeAll(async () => {
  program = await startProgram({ keepData: true });
});
afterAll(async () => {
  await program?.stop();
  program?.forget();
});

const env = () => ({ ...process.env, DATA_DIR: program.dataDir });
const cli = async (...args: string[]) => {
  const { stdout, stderr, code } = await run(process.execPath, [MAIN, ...args, "--json"], { env: env() });
  if (code !== 0) throw new Error(stderr);
  return JSON.parse(stdout);
};
const rows = async (...flags: string[]): Promise<AuditRow[]> => (await cli("audit", "list", ...flags)).records;

test("a tool that writes, a switch and a key that has ended are found by who, what and when", async () => {
  const { email, api_key } = program.bootstrap.analyst;
  await call(`${program.baseUrl}/mcp/aev`, api_key, "create_scenario", { name: "a-needle-of-the-audit" });
  await expect
    .poll(() => rows("--user", email, "--action", "CreateScenario"))
    .toMatchObject([{ user: email, arguments: ["name"], outcome: "ok" }]);
  await cli("settings", "set", "ai", "off");
  await cli("settings", "set", "ai", "on");
  const switched = await rows("--action", "UpdateSettings", "--since", "5m", "--limit", "2");
  expect(switched.map((row) => [row.user, row.arguments])).toEqual([
    ["admin@sallyport.example", ["ai=true"]],
    ["admin@sallyport.example", ["ai=false"]],
  ]);
  await cli("users", "disable", email);
  expect((await post(`${program.baseUrl}/mcp/cti`, api_key, "tools/list")).status).toBe(401);
  await expect.poll(() => rows("--outcome", "key_disabled"), SOON).toMatchObject([{ user: email }]);
  await cli("users", "enable", email);
  expect(JSON.stringify(await rows())).not.toContain("a-needle-of-the-audit");
});

test("people follow it, in their local time", async () => {
  const child = spawn(process.execPath, [MAIN, "audit", "follow"], {
    env: env(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = createInterface({ input: child.stdout });
  try {
    const first = once(lines, "line");
    // Until the follower has asked where it begins, changes are none of its.
    let created = 0;
    const timer = setInterval(() => {
      void cli("groups", "create", "--name", `Followed ${created++}`).catch(() => undefined);
    }, 1_500);
    const [line] = (await first.finally(() => clearInterval(timer))) as [string];
    expect(line).toMatch(
      /^\d+ {2}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d {2}admin@sallyport\.example {2}auth\.v1\.GroupService\/CreateGroup/,
    );
  } finally {
    child.kill("SIGTERM");
    await once(child, "exit");
  }
});

test("of administration that was answered every record outlives kill -9, in sequence, with how it ended", async () => {
  const done: string[] = [];
  const { api_key } = program.bootstrap.admin;
  const create = async (name: string): Promise<void> => {
    const response = await fetch(`${program.baseUrl}/rpc/auth.v1.UserService/CreateUser`, {
      method: "POST",
      headers: { authorization: `Bearer ${api_key}`, "content-type": "application/json" },
      body: JSON.stringify({ email: `${name}@example.org`, name }),
    });
    if (response.ok) done.push(`${name}@example.org`);
  };
  const load = Promise.all(
    Array.from({ length: 4 }, async (_, lane) => {
      for (let i = 0; ; i++) await create(`u${lane}-${i}`);
    }),
  ).catch(() => undefined);
  await expect.poll(() => done.length, { timeout: 20_000 }).toBeGreaterThan(40);
  program.process.kill("SIGKILL");
  await load;
  const acknowledged = [...done];
  program = await startProgram({ dataDir: program.dataDir, keepData: true });

  const found = await rows("--action", "CreateUser", "--limit", "1000");
  const outcomes = new Map(found.map((row) => [row.target, row.outcome]));
  expect(acknowledged.filter((email) => outcomes.get(email) !== "ok")).toEqual([]);
  const made: string[] = (await cli("users", "list")).users.map(({ email }: { email: string }) => email);
  expect(made.filter((email) => email.endsWith("@example.org") && !outcomes.has(email))).toEqual([]);
  const numbers = (await rows("--limit", "10000")).map(({ number }) => number).reverse();
  expect(numbers).toEqual(Array.from({ length: numbers.length }, (_, i) => 1 + i));
});

test("of changes by tools that were answered every record outlives kill -9", async () => {
  const { api_key } = program.bootstrap.analyst;
  let answered = 0;
  const load = Promise.all(
    Array.from({ length: 4 }, async (_, lane) => {
      for (let i = 0; ; i++) {
        await call(`${program.baseUrl}/mcp/aev`, api_key, "create_scenario", { name: `outlives ${lane} ${i}` });
        answered++;
      }
    }),
  ).catch(() => undefined);
  const before = (await rows("--action", "CreateScenario", "--limit", "10000")).length;
  await expect.poll(() => answered, { timeout: 60_000 }).toBeGreaterThan(100);
  program.process.kill("SIGKILL");
  await load;
  const acknowledged = answered;
  program = await startProgram({ dataDir: program.dataDir, keepData: true });
  // More than a page: "2h ago" is one time for all of them.
  const found = await rows("--action", "CreateScenario", "--since", "2h", "--limit", "10000");
  expect(found.every(({ outcome }) => outcome === "ok")).toBe(true);
  expect(found.length).toBeGreaterThanOrEqual(Math.max(before, acknowledged));
});
