import type { MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type CreateMcpServerRequestSchema,
  McpServerService,
  McpTransport,
  type UpdateMcpServerRequestSchema,
} from "#proto/core/v1/mcp_server_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import type { McpServerRecord } from "../../../services/core-objects/kinds/mcp-servers/record.js";
import { createCoreObjectsService } from "../../../services/core-objects/service.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { createSeal, newSealKey, parseSealKeys } from "../../../services/shared/secrets/seal.js";
import { refusal } from "./refusal.js";
import { as, type Rig, SEAL, SEAL_KEYS, startRig } from "./rig.js";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

const { listMcpServers, getMcpServer, createMcpServer, updateMcpServer, deleteMcpServer } = McpServerService.method;
const [TOKEN, OTHER] = ["Bearer not-a-real-token-4242", "a second header's value"];
const WIKI = {
  name: "wiki",
  url: "https://wiki.example.com/mcp",
  headers: [
    { name: "Authorization", value: TOKEN },
    { name: "X-Space", value: OTHER },
  ],
};

const create = async (who: string, request: MessageInitShape<typeof CreateMcpServerRequestSchema>) =>
  (await rig.dispatch.unary(createMcpServer, request, as(who))).mcpServer!;
const update = async (who: string, request: MessageInitShape<typeof UpdateMcpServerRequestSchema>) =>
  (await rig.dispatch.unary(updateMcpServer, request, as(who))).mcpServer!;
const stored = async (id: string) => (await rig.store.collection<McpServerRecord>("mcp_servers").findOne({ _id: id }))!;
const sealed = async (id: string) => new Map((await stored(id)).headers.map((one) => [one.name, one.sealed]));
const place = (id: string, name: string) => `mcp_servers/${id}/headers.${name}`;

test("an MCP server is read with the names of its headers, whose values are sealed each for its place", async () => {
  const made = await create("alice", WIKI);
  const { mcpServer } = await rig.dispatch.unary(getMcpServer, { mcpServerId: made.id }, as("alice"));
  expect(mcpServer).toMatchObject({
    name: "wiki",
    url: WIKI.url,
    transport: McpTransport.STREAMABLE_HTTP,
    headers: [
      { name: "Authorization", endsWith: "4242" },
      { name: "X-Space", endsWith: "alue" },
    ],
  });
  const { mcpServers } = await rig.dispatch.unary(listMcpServers, {}, as("alice"));
  expect(mcpServers).toMatchObject([{ id: made.id, transport: McpTransport.UNSPECIFIED, headers: [] }]);
  expect(mcpServers[0]).not.toHaveProperty("url");
  const said = [made, mcpServer, mcpServers, await stored(made.id)];
  const text = JSON.stringify(said, (_, value) => (typeof value === "bigint" ? "" : value));
  for (const value of [TOKEN, OTHER]) expect(text).not.toContain(value);
  const kept = await sealed(made.id);
  expect(SEAL.open(kept.get("Authorization")!, place(made.id, "authorization"))).toBe(TOKEN);
  expect(() => SEAL.open(kept.get("X-Space")!, place(made.id, "authorization"))).toThrow(/changed after/);
});

test("headers are put and removed by name; those that are not named stay as they are sealed", async () => {
  const { id } = await create("alice", WIKI);
  const before = await sealed(id);
  const put = await update("alice", { mcpServerId: id, putHeaders: [{ name: "x-space", value: "1" }] });
  expect(put.headers.map(({ name, endsWith }) => [name, endsWith])).toEqual([
    ["Authorization", "4242"],
    ["x-space", undefined],
  ]);
  expect((await sealed(id)).get("Authorization")).toBe(before.get("Authorization"));
  expect((await update("alice", { mcpServerId: id, removeHeaders: ["X-SPACE"] })).headers).toHaveLength(1);
  expect(await refusal(update("alice", { mcpServerId: id, removeHeaders: ["X-Space"] }))).toEqual([
    "InvalidArgument",
    "the MCP server has no header X-Space to remove",
  ]);
  expect(
    (await refusal(update("alice", { mcpServerId: id, putHeaders: [{ name: "Host", value: "x" }] })))[1],
  ).toContain("the service sets the header Host itself");
  const [, said] = await refusal(
    update("alice", { mcpServerId: id, putHeaders: [{ name: "X-A", value: "s3cret\n" }] }),
  );
  expect(said).toBe("the value of the header X-A must be printable ASCII");
});

test("headers are for one host: who changes that gives every one again or removes it", async () => {
  const { id } = await create("alice", { ...WIKI, sharing: [{ to: "user:bob", tier: Tier.CONFIG }] });
  const elsewhere = { mcpServerId: id, url: "https://evil.example.com/mcp" };
  expect(await refusal(update("bob", elsewhere))).toEqual([
    "InvalidArgument",
    "the new url has another host: put or remove each header again: authorization, x-space",
  ]);
  const one = { ...elsewhere, putHeaders: [{ name: "Authorization", value: "Bearer bob's own" }] };
  expect((await refusal(update("bob", one)))[1]).toBe(
    "the new url has another host: put or remove each header again: x-space",
  );
  expect((await update("bob", { ...one, removeHeaders: ["X-Space"] })).headers).toHaveLength(1);
  const path = await update("bob", {
    mcpServerId: id,
    url: "https://evil.example.com/other",
    transport: McpTransport.SSE,
  });
  expect(path).toMatchObject({ url: "https://evil.example.com/other", transport: McpTransport.SSE });
  await rig.dispatch.unary(deleteMcpServer, { mcpServerId: id }, as("alice"));
});

test("a URL is checked as where platforms are", async () => {
  for (const [url, words] of [
    ["wiki.example.com", "url must be a URL that begins with"],
    ["https://a:b@wiki.example.com/", "url must not contain a user name"],
    ["http://[fe80::1]/mcp", "leads to a closed address"],
  ] as const)
    expect((await refusal(create("alice", { ...WIKI, url })))[1]).toContain(words);
});

test("headers that an older key sealed are sealed with the newest at start, and one put in between does not hide the others", async () => {
  const { id } = await create("alice", WIKI);
  const newKey = newSealKey();
  const both = createSeal(parseSealKeys(`${newKey},${SEAL_KEYS}`));
  const start = async () =>
    rig.add(await createCoreObjectsService({ store: rig.store, peers: rig.peers, log: silentLog, seal: both }));
  // One header with the newer key, before anybody sealed the rest again.
  const authorization = both.seal("Bearer newer", place(id, "authorization"));
  const [first, second] = (await stored(id)).headers;
  await rig.store
    .collection<McpServerRecord>("mcp_servers")
    .updateOne({ _id: id }, { $set: { headers: [{ ...first!, sealed: authorization }, second!] } });
  await start();
  const only = createSeal(parseSealKeys(newKey));
  const kept = await sealed(id);
  expect(only.open(kept.get("Authorization")!, place(id, "authorization"))).toBe("Bearer newer");
  expect(only.open(kept.get("X-Space")!, place(id, "x-space"))).toBe(OTHER);
  expect((await stored(id)).sealed_with).toBe(only.key);
});
