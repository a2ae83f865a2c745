import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ConnectionState, SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { run } from "../support/foreign.js";
import { post } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// Platforms register and are chosen through three doors: HTTP, the shell and gRPC.

let program: Program;
beforeAll(async () => {
  program = await startProgram();
});
afterAll(() => program?.stop());

async function cli(...args: string[]) {
  const env = { ...process.env, DATA_DIR: program.dataDir };
  const done = await run(process.execPath, ["dist/clients/cli/main.js", "platforms", ...args, "--json"], { env });
  return { ...done, json: done.stdout === "" ? undefined : JSON.parse(done.stdout) };
}

const grpc = () => createClient(SettingService, createGrpcTransport({ baseUrl: program.bootstrap.grpc_url }));
const admin = () => ({ headers: { authorization: `Bearer ${program.bootstrap.admin.api_key}` } });

async function register(token: string, platform: object) {
  const reply = await fetch(`${program.baseUrl}/api/v1/platform/register`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ platform_identifier: "openaev", platform_version: "2.4.0", ...platform }),
  });
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
}

interface Row {
  readonly id: string;
  readonly server: string;
  readonly state: string;
  readonly serves: boolean;
  readonly url: string;
}
const ofAev = async (): Promise<Row[]> => (await cli("list")).json.platforms.filter((row: Row) => row.server === "aev");

const one = { platform_id: "one", platform_url: "http://127.0.0.1:9/one" };

test("a platform registers over HTTP behind the one that serves, and is selected, and forgotten", async () => {
  const { id: tokenId, token } = (await cli("create-token", "--name", "one", "--server", "aev")).json;
  expect((await register(token, one)).status).toBe(200);
  const [builtIn, waiting] = (await ofAev()) as [Row, Row];
  expect(builtIn).toMatchObject({ id: "aev-built-in", serves: true, state: "connected" });
  expect(waiting).toMatchObject({ serves: false, state: "connected", url: one.platform_url });

  expect((await cli("select", waiting.id)).json).toMatchObject({ id: waiting.id, serves: true });
  // Nothing listens there: the next call already goes to the platform that was selected.
  const aev = `${program.baseUrl}/mcp/aev`;
  const call = () => post(aev, program.bootstrap.admin.api_key, "tools/call", { name: "whoami", arguments: {} });
  expect((await call()).text).toMatch(/the aev platform (cannot be reached|does not answer)/);
  expect((await register(token, { ...one, platform_id: "two" })).status).toBe(403);
  expect((await cli("forget", waiting.id)).json).toEqual({ id: waiting.id, forgotten: true, freed_tokens: 1 });
  expect((await call()).body.result?.isError).toBeUndefined();
  expect((await register(token, { ...one, platform_id: "two" })).status).toBe(200);
  await cli("revoke-token", tokenId);
});

test("an administrator adds, selects and forgets over gRPC, and nobody else", async () => {
  const given = { server: "grc", url: "http://127.0.0.1:9", publicUrl: "https://grc.example.com", title: "Ours" };
  const { platform } = await grpc().addPlatform(given, admin());
  expect(platform).toMatchObject({ serves: false, state: ConnectionState.REGISTERED, title: "Ours" });
  const id = platform?.id as string;
  expect((await grpc().selectPlatform({ id }, admin())).platform).toMatchObject({ serves: true });
  const { platforms } = await grpc().listPlatforms({}, admin());
  expect(platforms.filter(({ server }) => server === "grc")).toMatchObject([
    { id, serves: true, state: ConnectionState.REGISTERED },
    { id: "grc-built-in", serves: false },
  ]);
  const analyst = { headers: { authorization: `Bearer ${program.bootstrap.analyst.api_key}` } };
  await expect(grpc().selectPlatform({ id }, analyst)).rejects.toThrow(/permission_denied/);
  await grpc().forgetPlatform({ id }, admin());
  expect((await grpc().listPlatforms({}, admin())).platforms.map((one) => one.id)).not.toContain(id);
});

test("from a shell a platform is added; what is wrong with one is said", async () => {
  const added = await cli("add", "--server", "cti", "--address", "http://127.0.0.1:9", "--title", "Ours");
  expect(added.json).toMatchObject({ server: "cti", serves: false, state: "registered", title: "Ours" });
  expect((await cli("add", "--server", "cti", "--address", "http://169.254.169.254")).stderr).toMatch(/OUTGOING_ALLOW/);
  expect(await cli("select", "cti-nobody")).toMatchObject({ code: 4, stderr: expect.stringMatching(/platforms list/) });
  expect((await cli("forget", "cti-built-in")).stderr).toMatch(/SANDBOX=off/);
  // It is moved by both addresses, and by no others.
  const move = (from: string, to: string) => cli("move", added.json.id, "--from", from, "--to", to);
  expect(await move("http://127.0.0.1:8", "http://127.0.0.1:7")).toMatchObject({ code: 5 });
  expect((await move("http://127.0.0.1:9", "http://127.0.0.1:7")).json).toMatchObject({
    from: "http://127.0.0.1:9",
    to: "http://127.0.0.1:7",
  });
  await cli("forget", added.json.id);
});

test("tokens are listed from a shell; one that is not there is not revoked, and the audit says so", async () => {
  const { id } = (await cli("create-token", "--name", "short", "--server", "grc", "--expires", "2d")).json;
  const { tokens } = (await cli("list-tokens")).json;
  expect(tokens[0]).toMatchObject({ id, name: "short", server: "grc", expires_at: expect.any(String) });
  const unknown = await cli("revoke-token", "nope");
  expect(unknown).toMatchObject({ code: 4, stderr: expect.stringMatching(/no registration token nope.*list-tokens/) });
  expect((await cli("revoke-token", id)).json).toEqual({ id, revoked: true });
  expect((await register("reg_x", one)).status).toBe(401);
  const env = { ...process.env, DATA_DIR: program.dataDir };
  const { stdout } = await run(process.execPath, ["dist/clients/cli/main.js", "audit", "list", "--json"], { env });
  const said = (JSON.parse(stdout).records as { method?: string; outcome?: string }[]).filter((record) =>
    JSON.stringify(record).includes("RevokeRegistrationToken"),
  );
  expect(JSON.stringify(said)).toContain("nope");
  expect(said.map((record) => JSON.stringify(record).includes("not_found"))).toContain(true);
});

test("over HTTP a platform is at no port 0", async () => {
  const { token } = (await cli("create-token", "--name", "port", "--server", "aev")).json;
  const refused = await register(token, { ...one, platform_url: "http://127.0.0.1:0/one" });
  expect(refused).toMatchObject({ status: 400, body: { message: expect.stringMatching(/port from 1 to 65535/) } });
});

test("with nothing listed, the built-in platforms and the one of the settings are called, and no other on loopback", async () => {
  const platform = createServer((_req, res) => res.writeHead(500).end());
  await new Promise<void>((ready) => platform.listen(0, "127.0.0.1", ready));
  let calls = 0;
  platform.on("request", () => calls++);
  const url = `http://127.0.0.1:${(platform.address() as AddressInfo).port}`;
  const strict = await startProgram({ env: { OUTGOING_ALLOW: "", GRC_URL: url } });
  const { api_key: key } = strict.bootstrap.admin;
  const whoami = (server: string) =>
    post(`${strict.baseUrl}/mcp/${server}`, key, "tools/call", { name: "whoami", arguments: {} });
  for (const server of ["cti", "aev"]) expect((await whoami(server)).body.result?.isError, server).toBeUndefined();
  expect((await whoami("grc")).text).not.toContain("OUTGOING_ALLOW");
  expect(calls).toBeGreaterThan(0);
  const env = { ...process.env, DATA_DIR: strict.dataDir };
  const add = ["dist/clients/cli/main.js", "platforms", "add", "--server", "cti", "--address", "http://127.0.0.1:9"];
  expect((await run(process.execPath, add, { env })).stderr).toContain("add 127.0.0.1:9 to OUTGOING_ALLOW");
  await strict.stop();
  platform.close();
});
