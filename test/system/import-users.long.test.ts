import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { run } from "../support/foreign.js";
import { toolNames } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// An administrator brings thirty colleagues with one command.

interface Row {
  readonly line: number;
  readonly email: string;
  readonly result: string;
  readonly reason?: string;
  readonly api_key?: string;
}

let program: Program;
beforeAll(async () => {
  program = await startProgram();
  for (const name of ["Blue", "Red"]) await cli("groups", "create", "--name", name);
});
afterAll(() => program?.stop());

const cli = async (...args: string[]) => {
  const env = { ...process.env, DATA_DIR: program.dataDir };
  const done = await run(process.execPath, ["dist/clients/cli/main.js", ...args, "--json"], { env });
  return { ...done, json: done.stdout === "" ? undefined : JSON.parse(done.stdout) };
};

async function importing(lines: readonly string[], ...flags: string[]) {
  const path = join(program.dataDir, "colleagues.csv");
  writeFileSync(path, `email,name,groups,admin\n${lines.join("\n")}\n`);
  const { code, stderr, json } = await cli("users", "import", path, ...flags);
  return { code, stderr, rows: json?.users as Row[] | undefined };
}

const COLLEAGUES = Array.from({ length: 30 }, (_, i) => `c${i}@example.org,Colleague ${i},${i % 2 ? "Blue;Red" : ""},`);
const emailsOf = async (group: string) =>
  (await cli("users", "list", "--group", group)).json.users.map(({ email }: Row) => email).sort();

test("a file with one wrong line changes nothing", async () => {
  const before = (await cli("users", "list")).json.users.length;
  const { code, stderr } = await importing([...COLLEAGUES, "z@example.org,Zed,Green,", "nobody,N,,"]);
  expect(code).toBe(2);
  expect(stderr).toContain('line 33: "nobody" is not an e-mail address');
  const { stderr: ofGroup } = await importing([...COLLEAGUES, "z@example.org,Zed,Green,"]);
  expect(ofGroup).toContain('line 32: there is no group "Green"; create it with `groups create`');
  expect((await cli("users", "list")).json.users).toHaveLength(before);
});

test("thirty colleagues come with their groups and a key each, and once more nothing changes", async () => {
  const { code, rows = [] } = await importing(COLLEAGUES, "--keys", "90d");
  expect([code, rows.length]).toEqual([0, 30]);
  expect(new Set(rows.map(({ result }) => result))).toEqual(new Set(["created"]));
  expect(rows[0]).toEqual({
    line: 2,
    email: "c0@example.org",
    result: "created",
    api_key: expect.stringMatching(/^slp_/),
  });
  expect(await toolNames(`${program.baseUrl}/mcp/core`, rows[29]!.api_key as string)).toContain("list_agents");
  expect(await emailsOf("red")).toEqual(COLLEAGUES.flatMap((_, i) => (i % 2 ? `c${i}@example.org` : [])).sort());

  const again = await importing(COLLEAGUES, "--keys", "90d");
  expect(again.rows?.every(({ result, api_key }) => result === "exists" && api_key === undefined)).toBe(true);
  const { rows: moved } = await importing(["C0@example.org,Other,Blue,yes"]);
  expect(moved).toEqual([{ line: 2, email: "C0@example.org", result: "added to groups" }]);
  expect((await cli("users", "get", "c0@example.org")).json).toMatchObject({
    name: "Colleague 0",
    admin: false,
    group_names: ["Blue"],
  });
});

test("a row that the service refuses has its reason, and the others are made", async () => {
  const { code, rows } = await importing(["ü@example.org,Ü,,", "late@example.org,Late,,"]);
  expect(code).toBe(1);
  expect(rows).toMatchObject([
    { line: 2, result: "refused", reason: expect.stringContaining("ASCII") },
    { line: 3, result: "created" },
  ]);
});
