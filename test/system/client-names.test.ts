import { timestampMs } from "@bufbuild/protobuf/wkt";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { Client as OldClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OldTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { type Connection, ConnectionKind, ConnectionService } from "#proto/auth/v1/connection_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { run } from "../support/foreign.js";
import { post } from "../support/mcp.js";
import { ClientState, nativeClient } from "../support/oauth/client-state.js";
import { connect } from "../support/oauth/connect.js";
import { personAt, settleIn } from "../support/oauth/person.js";
import { type Program, startProgram } from "../support/program.js";

// A client names itself when it connects, and its owner sees the name at the key or sign-in that it came with.

let program: Program;
beforeAll(async () => {
  program = await startProgram();
});
afterAll(() => program?.stop());

const to = <S extends Parameters<typeof connectClient>[0]>(service: S) =>
  connectClient(service, {
    baseUrl: `${program.baseUrl}/rpc`,
    apiKey: program.bootstrap.analyst.api_key,
    httpVersion: "1.1" as const,
  });
const url = (server = "cti"): URL => new URL(`${program.baseUrl}/mcp/${server}`);

async function newKey(name: string): Promise<{ readonly id: string; readonly token: string }> {
  const { key, token } = await to(ApiKeyService).createApiKey({ name });
  return { id: key?.id as string, token };
}

async function connectionOf(id: string): Promise<Connection | undefined> {
  const { connections } = await to(ConnectionService).listConnections({ pageSize: 100 });
  return connections.find((one) => one.id === id);
}

async function connectWith(sdk: string, token: string, info: { name: string; version: string }): Promise<void> {
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  if (sdk === "sdk 1") {
    const client = new OldClient(info);
    await client.connect(new OldTransport(url(), { requestInit }) as never);
    await client.listTools();
    return client.close();
  }
  const mode = sdk === "client 2, modern" ? ("auto" as const) : ("legacy" as const);
  const client = new Client(info, { versionNegotiation: { mode } });
  await client.connect(new StreamableHTTPClientTransport(url(), { requestInit }));
  await client.listTools();
  return client.close();
}

test.each(["sdk 1", "client 2, legacy", "client 2, modern"])(
  "%s: its name and when it connected are seen at its key within a second",
  async (sdk) => {
    const key = await newKey(sdk);
    expect(await connectionOf(key.id)).toMatchObject({ client: "", uses: 0n });
    await connectWith(sdk, key.token, { name: "seen-client", version: "4.5.6" });
    const connected = Date.now();
    await expect.poll(async () => (await connectionOf(key.id))?.client, { timeout: 1_000 }).toBe("seen-client 4.5.6");
    const { clientConnectedAt, lastUsedAt } = (await connectionOf(key.id)) as Connection;
    expect(Math.abs(timestampMs(clientConnectedAt as never) - connected)).toBeLessThan(5_000);
    expect(lastUsedAt).toBeDefined();
  },
);

test("the last client that connected counts, and later calls change neither name nor time", async () => {
  const key = await newKey("shared");
  await connectWith("sdk 1", key.token, { name: "one", version: "1" });
  await expect.poll(async () => (await connectionOf(key.id))?.client).toBe("one 1");
  await connectWith("client 2, modern", key.token, { name: "two", version: "2" });
  await expect.poll(async () => (await connectionOf(key.id))?.client).toBe("two 2");
  const before = (await connectionOf(key.id)) as Connection;
  await post(`${url()}`, key.token, "tools/list");
  await expect.poll(async () => (await connectionOf(key.id))?.uses).toBe(before.uses + 1n);
  expect((await connectionOf(key.id))?.clientConnectedAt).toEqual(before.clientConnectedAt);
});

test.each([
  ["what hides and reorders text", { name: "good\u202e\u0007\u200bname", version: "1" }, "goodname 1"],
  ["megabytes", { name: "x".repeat(1 << 20), version: "y".repeat(1 << 20) }, `${"x".repeat(48)} ${"y".repeat(24)}`],
  ["what is no text", { name: { $ne: null }, version: 7 }, ""],
])("a name with %s is bounded, and the client is served", async (what, clientInfo, name) => {
  const key = await newKey(what);
  const { status, body } = await post(`${url()}`, key.token, "initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo,
  });
  expect([status, body.error]).toEqual([200, undefined]);
  await expect.poll(async () => (await connectionOf(key.id))?.uses, { timeout: 2_000 }).toBe(1n);
  // The report after the one that has the use: nothing comes any more.
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect((await connectionOf(key.id))?.client).toBe(name);
});

test("a client that signs a person in is named at its grant, and the command line shows names", async () => {
  const { analyst } = program.bootstrap;
  await settleIn(program, analyst);
  const redirect = "http://127.0.0.1:9/callback";
  const connected = await connect(
    "client 2, 2026-07-28",
    `${url("grc")}`,
    new ClientState(redirect, nativeClient(redirect)),
    personAt(analyst),
  );
  await connected.close();
  const grants = async () =>
    (await to(ConnectionService).listConnections({ pageSize: 100 })).connections.filter(
      ({ kind }) => kind === ConnectionKind.GRANT,
    );
  await expect
    .poll(async () => (await grants()).map(({ name, client }) => [name, client]))
    .toEqual([["Test client", "test 1"]]);
  const { stdout } = await run(
    process.execPath,
    ["dist/clients/cli/main.js", "connections", "list", "--url", program.baseUrl, "--key", analyst.api_key],
    { env: { ...process.env, DATA_DIR: program.dataDir } },
  );
  expect(stdout).toMatch(/^ID +KIND +NAME +CLIENT /);
  expect(stdout).toMatch(/client +Test client +test 1 +grc/);
});
