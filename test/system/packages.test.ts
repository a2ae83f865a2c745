import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { PackageFormat, PackageService } from "#proto/catalogue/v1/package_service_pb.js";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { post, toolNames } from "../support/mcp.js";
import { type Program, startProgram, untilPlatformsAnswer } from "../support/program.js";
import { unzip } from "../support/unzip.js";

// Packages of the running service: for whom they are, and what their key does.

describe("packages", () => {
  const folder = mkdtempSync(join(tmpdir(), "packages-"));
  let program: Program;
  let analyst: string;

  beforeAll(async () => {
    program = await startProgram();
    await untilPlatformsAnswer(program);
    analyst = program.bootstrap.analyst.api_key;
  });
  afterAll(async () => {
    await program?.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  const to = <S extends Parameters<typeof connectClient>[0]>(service: S, apiKey: string) =>
    connectClient(service, { baseUrl: `${program.baseUrl}/rpc`, apiKey, httpVersion: "1.1" as const, retries: 0 });
  const build = (request: Parameters<ReturnType<typeof builder>["buildPackage"]>[0], key = analyst) =>
    builder(key).buildPackage(request);
  const builder = (key: string) =>
    connectClient(PackageService, {
      baseUrl: `${program.baseUrl}/rpc`,
      apiKey: key,
      httpVersion: "1.1",
      retries: 0,
    });
  const keysOf = async (): Promise<string[]> =>
    (await to(ApiKeyService, analyst).listApiKeys({ pageSize: 100 })).keys.map(({ id }) => id).sort();
  const referenceIn = async (content: Uint8Array): Promise<string[]> => {
    const files = await unzip(content);
    const text = [...files].find(([path]) => path.endsWith("TOOLS.md"))?.[1].toString() ?? "";
    return [...text.matchAll(/^- `(\w+)`/gm)].map(([, name]) => name as string).sort();
  };

  test("its reference is what the person reaches at that URL", async () => {
    const { content, fileName } = await build({ server: "cti", format: PackageFormat.AGENT_PLUGIN });
    expect(fileName).toBe("sallyport-cti-agent-plugin.zip");
    expect(await referenceIn(content)).toEqual((await toolNames(`${program.baseUrl}/mcp/cti`, analyst)).sort());
    const { token } = await to(ApiKeyService, analyst).createApiKey({
      name: "reader",
      scopes: ["account", "cti:read"],
    });
    const reader = await build({ server: "cti", format: PackageFormat.AGENT_PLUGIN, toolsets: ["basic"] }, token);
    const url = `${program.baseUrl}/mcp/cti?toolsets=basic`;
    expect(await referenceIn(reader.content)).toEqual((await toolNames(url, token)).sort());
    expect((await unzip(reader.content)).get("sallyport-cti/mcp.json")?.toString()).toContain(`"${url}"`);
  });

  test("the same asked twice is the same file", async () => {
    const both = [1, 2].map(() => build({ server: "grc", format: PackageFormat.MCPB }));
    const [one, other] = await Promise.all(both);
    expect(Buffer.compare(one?.content as Uint8Array, other?.content as Uint8Array)).toBe(0);
    expect(one?.key).toBeUndefined();
  });

  test("one click: a key of its own name and end is in it, for that server alone", async () => {
    const { content, key } = await build({
      server: "cti",
      format: PackageFormat.CLAUDE_CODE,
      oneClick: true,
      expireDays: 7,
    });
    expect(key?.name).toBe("Claude Code (cti)");
    const days = (Number(key?.expiresAt?.seconds) * 1_000 - Date.now()) / 86_400_000;
    expect(days).toBeGreaterThan(6.9);
    expect(days).toBeLessThan(7.1);
    const manifest = (await unzip(content)).get("sallyport-cti/.claude-plugin/plugin.json")?.toString() ?? "";
    const token = JSON.parse(manifest).userConfig.api_key.default as string;
    expect((await toolNames(`${program.baseUrl}/mcp/cti`, token)).length).toBeGreaterThan(50);
    expect(await toolNames(`${program.baseUrl}/mcp/grc`, token)).toEqual([]);
  });

  test("the desktop extension, as its host starts it, lists tools; after its key is revoked it is refused, and others go on", async () => {
    const { content, key } = await build({ server: "cti", format: PackageFormat.MCPB, oneClick: true });
    const files = await unzip(content);
    const { env } = JSON.parse(files.get("manifest.json")?.toString() ?? "").server.mcp_config;
    const path = join(folder, "index.js");
    writeFileSync(path, files.get("server/index.js") as Buffer);
    const client = new Client({ name: "host", version: "1.0.0" });
    await client.connect(new StdioClientTransport({ command: process.execPath, args: [path], env, stderr: "ignore" }));
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name).sort()).toEqual(
      (await toolNames(`${program.baseUrl}/mcp/cti`, analyst)).sort(),
    );
    await to(ApiKeyService, analyst).revokeApiKey({ id: key?.id as string });
    await expect(client.listTools()).rejects.toThrow(/key/i);
    expect((await post(`${program.baseUrl}/mcp/cti`, analyst, "tools/list")).status).toBe(200);
    await client.close();
  });

  test.each([
    [
      "an agent plugin with a key",
      { server: "cti", format: PackageFormat.AGENT_PLUGIN },
      Code.InvalidArgument,
      /carries no key/,
    ],
    ["no format", { server: "cti" }, Code.InvalidArgument, /format/],
    ["an unknown server", { server: "nowhere", format: PackageFormat.MCPB }, Code.NotFound, /no server nowhere/],
    [
      "an unknown toolset",
      { server: "cti", format: PackageFormat.MCPB, toolsets: ["x"] },
      Code.InvalidArgument,
      /"x" is not a toolset/,
    ],
    [
      "no tool",
      { server: "cti", format: PackageFormat.MCPB, toolsets: ["account"], exclude: ["account"] },
      Code.InvalidArgument,
      /leaves no tool/,
    ],
  ])("%s is refused, and no key is left behind", async (_what, request, code, said) => {
    const before = await keysOf();
    await expect(build({ ...request, oneClick: true })).rejects.toMatchObject({
      code,
      rawMessage: expect.stringMatching(said),
    });
    expect(await keysOf()).toEqual(before);
  });

  test("who has no tool there is told which right is missing, and gets no key", async () => {
    const { token } = await to(ApiKeyService, analyst).createApiKey({ name: "grc", scopes: ["account", "grc:read"] });
    const before = await keysOf();
    const refused = build({ server: "cti", format: PackageFormat.MCPB, oneClick: true }, token);
    await expect(refused).rejects.toMatchObject({
      code: Code.PermissionDenied,
      rawMessage: expect.stringMatching(/cti:read/),
    });
    expect(await keysOf()).toEqual(before);
  });

  test("a server that is switched off has no package, and says who switches it on", async () => {
    const settings = to(SettingService, program.bootstrap.admin.api_key);
    await settings.updateSettings({ platformServers: false });
    const before = await keysOf();
    await expect(build({ server: "cti", format: PackageFormat.MCPB, oneClick: true })).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringMatching(/administrator switched the platform servers off/),
    });
    expect(await keysOf()).toEqual(before);
    await settings.updateSettings({ platformServers: true });
  });
});
