import { afterAll, beforeAll, expect, test } from "vitest";
import { type User, UserService } from "#proto/auth/v1/user_service_pb.js";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { UsageService } from "#proto/core/v1/usage_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { run } from "../support/foreign.js";
import { post } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// What somebody stores, and what is left, over each way to ask: a tool, gRPC and the command line.

interface Row {
  readonly name: string;
  readonly used: number;
  readonly limit?: number;
  readonly left?: number;
  readonly unit: string;
}

const MAIN = "dist/clients/cli/main.js";
let program: Program;
beforeAll(async () => {
  program = await startProgram({ env: { OBJECTS_PER_USER: "7", AUDIT_RECORDS: "1000" } });
});
afterAll(() => program?.stop());

async function overGrpc(key: string, request: object = {}): Promise<Row[]> {
  const client = connectClient(UsageService, { baseUrl: program.bootstrap.grpc_url, apiKey: key, protocol: "grpc" });
  const { usage, notes } = await client.getUsage(request);
  expect(notes).toEqual([]);
  return usage.map(({ name, used, limit, unit }) => ({ name, used, unit, ...(limit !== undefined && { limit }) }));
}

async function overMcp(key: string): Promise<Row[]> {
  const { body } = await post(`${program.baseUrl}/mcp/core`, key, "tools/call", { name: "get_usage", arguments: {} });
  return (body.result as unknown as { structuredContent: { usage: Row[] } }).structuredContent.usage;
}

/** What people see, or with --json what programs read. */
const overCli = (key: string, ...flags: string[]) =>
  run(process.execPath, [MAIN, "usage", "show", ...flags, "--url", program.baseUrl, "--key", key], {
    env: { ...process.env, DATA_DIR: program.dataDir },
  });

const rowOf = (rows: readonly Row[], name: string) => rows.find((row) => row.name === name);

test("a user sees over each way the same, with what is left", async () => {
  const { analyst } = program.bootstrap;
  const agents = connectClient(AgentService, { baseUrl: program.bootstrap.grpc_url, apiKey: analyst.api_key });
  for (const name of ["One", "Two"]) await agents.createAgent({ name });
  await expect
    .poll(async () => rowOf(await overGrpc(analyst.api_key), "audit records"), { timeout: 10_000 })
    .toMatchObject({ used: 2, unit: "records" });
  const rows = await overGrpc(analyst.api_key);
  expect(rowOf(rows, "objects and documents")).toEqual({
    ...{ name: "objects and documents", unit: "objects" },
    used: 2,
    limit: 7,
  });
  expect(await overMcp(analyst.api_key)).toEqual(rows);

  const shown: Row[] = JSON.parse((await overCli(analyst.api_key, "--json")).stdout).usage;
  const withLeft = rows.map((row) => ({ ...row, ...(row.limit !== undefined && { left: row.limit - row.used }) }));
  expect(shown).toEqual(withLeft);
  const { stdout } = await overCli(analyst.api_key);
  expect(stdout).toMatch(/^name +used +limit +left +unit/im);
  expect(stdout).toMatch(/objects and documents +2 +7 +5 +objects/);
  expect(stdout).toMatch(/audit records +2 +.*records/);
});

test("administrators see others and the deployment, and nobody else does", async () => {
  const { admin, analyst } = program.bootstrap;
  const whole = await overGrpc(admin.api_key, { deployment: true });
  const { used, limit } = rowOf(whole, "audit records") as Row;
  expect(used).toBeGreaterThan(2);
  expect(limit).toBe(7 * 1_000);
  const shown: Row[] = JSON.parse((await overCli(admin.api_key, "--deployment", "--json")).stdout).usage;
  expect(shown.map(({ name }) => name)).toEqual(whole.map(({ name }) => name));

  const users = connectClient(UserService, { baseUrl: program.bootstrap.grpc_url, apiKey: admin.api_key });
  const { id } = (await users.getUser({ email: analyst.email })).user as User;
  expect(await overGrpc(admin.api_key, { owner: id })).toEqual(await overGrpc(analyst.api_key));
  expect(JSON.parse((await overCli(admin.api_key, "--user", id, "--json")).stdout).usage).toMatchObject(
    await overGrpc(analyst.api_key),
  );
  // What is company-managed has no audit records of its own.
  expect(rowOf(await overGrpc(admin.api_key, { owner: "company" }), "audit records")).toBeUndefined();

  const refused = await overCli(analyst.api_key, "--deployment");
  expect(refused.code).not.toBe(0);
  expect(refused.stderr).toContain("only administrators can see the usage of other users and of the deployment");
  await expect(overGrpc(analyst.api_key, { owner: "company" })).rejects.toThrow("only administrators");
  const both = await overCli(admin.api_key, "--deployment", "--user", id);
  expect(both.stderr).toContain("give either --user or --deployment");
});
