import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as TransportV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { grpcClient } from "../../clients/node/grpc.js";
import { CLAUDE, foreignFile, GRPCURL, isInstalled, PYTHON, run } from "../support/foreign.js";
import { type Program, startProgram } from "../support/program.js";
import { titled } from "../support/titled.js";

const ABSENT = "run test/foreign/install.sh";

/** A harmless tool of each server. */
const CALLS = { cti: "whoami", aev: "whoami", grc: "list_tenants", core: "list_agents" } as const;
const SERVERS = Object.keys(CALLS) as (keyof typeof CALLS)[];

let program: Program;
let key: string;
beforeAll(async () => {
  program = await startProgram();
  key = program.bootstrap.admin.api_key;
});
afterAll(() => program?.stop());

describe.each([
  ["auto", { versionNegotiation: { mode: "auto" as const } }, "2026-07-28"],
  ["legacy", {}, "2025-11-25"],
  ["pinned", { versionNegotiation: { mode: { pin: "2026-07-28" } } }, "2026-07-28"],
])("@modelcontextprotocol/client, mode %s", (_mode, options, version) => {
  test.each(SERVERS)("lists and calls on %s", async (server) => {
    const client = new Client({ name: "system-test", version: "1" }, options as never);
    const requestInit = { headers: { authorization: `Bearer ${key}` } };
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${program.baseUrl}/mcp/${server}`), { requestInit }),
    );
    expect(client.getNegotiatedProtocolVersion()).toBe(version);
    const { tools } = await client.listTools();
    expect(tools.map((tool) => tool.name)).toContain(CALLS[server]);
    const result = await client.callTool({ name: CALLS[server], arguments: {} });
    expect(result.isError ?? false).toBe(false);
    expect(result.content).toEqual([{ type: "text", text: JSON.stringify(result.structuredContent) }]);
    await client.close();
  });
});

test.each(SERVERS)("@modelcontextprotocol/sdk lists and calls on %s", async (server) => {
  const client = new ClientV1({ name: "system-test", version: "1" });
  const requestInit = { headers: { authorization: `Bearer ${key}` } };
  await client.connect(new TransportV1(new URL(`${program.baseUrl}/mcp/${server}`), { requestInit }) as never);
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toContain(CALLS[server]);
  const result = await client.callTool({ name: CALLS[server], arguments: {} });
  expect(result.isError ?? false).toBe(false);
  await client.close();
});

describe.skipIf(!isInstalled(PYTHON))(titled("Python", isInstalled(PYTHON) ? undefined : ABSENT), () => {
  test.each(["auto", "legacy"])(
    "the official client, mode %s, lists and calls on all four endpoints",
    async (mode) => {
      const calls = SERVERS.map((server) => `${server}=${CALLS[server]}`);
      const done = await run(PYTHON, [foreignFile("python/mcp_caller.py"), mode, program.baseUrl, ...calls], {
        input: key,
      });
      expect(done.stderr).not.toMatch(/Traceback/);
      const seen = JSON.parse(done.stdout) as Record<string, { tools: string[]; is_error: boolean; version: string }>;
      for (const server of SERVERS) {
        expect(seen[server]).toMatchObject({
          is_error: false,
          version: mode === "auto" ? "2026-07-28" : "2025-11-25",
        });
        expect(seen[server]?.tools).toContain(CALLS[server]);
      }
    },
    60_000,
  );

  test("a gRPC caller with generated stubs meets the same gates and rules", async () => {
    const stubs = mkdtempSync(join(tmpdir(), "sallyport-stubs-"));
    try {
      const done = await run(PYTHON, [foreignFile("python/grpc_caller.py"), program.grpcAddress, "proto", stubs], {
        input: key,
      });
      expect(done.stderr).not.toMatch(/Traceback/);
      expect(JSON.parse(done.stdout)).toMatchObject({
        agents: expect.any(Number),
        without_key: "UNAUTHENTICATED",
        broken_rule: "INVALID_ARGUMENT",
      });
    } finally {
      rmSync(stubs, { recursive: true, force: true });
    }
  });
});

describe.skipIf(!isInstalled(GRPCURL))(titled("grpcurl", isInstalled(GRPCURL) ? undefined : ABSENT), () => {
  const grpcurl = (...args: string[]) => run(GRPCURL, ["-plaintext", "-H", `authorization: Bearer ${key}`, ...args]);

  test("lists services, describes an rpc and calls it", async () => {
    const listed = await grpcurl(program.grpcAddress, "list");
    expect(listed.stdout.split("\n")).toEqual(
      expect.arrayContaining(["core.v1.AgentService", "auth.v1.ApiKeyService"]),
    );
    const described = await grpcurl(program.grpcAddress, "describe", "core.v1.AgentService.ListAgents");
    expect(described.stdout).toContain("rpc ListAgents");
    const called = await grpcurl("-d", "{}", program.grpcAddress, "core.v1.AgentService/ListAgents");
    expect(called.stderr).toBe("");
    expect(JSON.parse(called.stdout)).toHaveProperty("agents");
  });

  test("is refused reflection and calls without a key, and served health", async () => {
    const listed = await run(GRPCURL, ["-plaintext", program.grpcAddress, "list"]);
    expect(listed.stderr).toMatch(/Unauthenticated/);
    const proto = ["-import-path", "proto", "-proto", "grpc/health/v1/health.proto"];
    const health = await run(GRPCURL, ["-plaintext", ...proto, program.grpcAddress, "grpc.health.v1.Health/Check"]);
    expect(JSON.parse(health.stdout)).toEqual({ status: "SERVING" });
  });
});

test("@grpc/grpc-js calls typed, and is refused without a key", async () => {
  const agents = grpcClient(AgentService, { address: program.grpcAddress, apiKey: key });
  const page = await agents.listAgents({ pageSize: 5 });
  expect(page.agents.length).toBeGreaterThan(0);
  agents.close();
  const stranger = grpcClient(ApiKeyService, { address: program.grpcAddress, apiKey: "nothing" });
  await expect(stranger.whoAmI({})).rejects.toMatchObject({ code: 16 });
  stranger.close();
});

describe.skipIf(!isInstalled(CLAUDE))(titled("Claude Code", isInstalled(CLAUDE) ? undefined : ABSENT), () => {
  test("its own MCP client connects to all four endpoints", async () => {
    const home = mkdtempSync(join(tmpdir(), "sallyport-claude-"));
    const env = { PATH: process.env.PATH ?? "", HOME: home, CLAUDE_CONFIG_DIR: home, DISABLE_TELEMETRY: "1" };
    try {
      for (const server of SERVERS) {
        const added = await run(
          CLAUDE,
          [
            "mcp",
            "add",
            "--scope",
            "user",
            "--transport",
            "http",
            `sp-${server}`,
            `${program.baseUrl}/mcp/${server}`,
            "--header",
            `Authorization: Bearer ${key}`,
          ],
          { env, cwd: home },
        );
        expect(added.code, added.stderr).toBe(0);
      }
      const listed = await run(CLAUDE, ["mcp", "list"], { env, cwd: home });
      for (const server of SERVERS) expect(listed.stdout).toMatch(new RegExp(`sp-${server}:.*Connected`));
    } finally {
      rmSync(home, { recursive: true, force: true });
    }
  });
});
