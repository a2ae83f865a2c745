import { readFileSync } from "node:fs";
import { join } from "node:path";
import { getOption } from "@bufbuild/protobuf";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { scope } from "#proto/auth/v1/access_pb.js";
import { readImage } from "../../services/shared/tools/image.js";
import { type Program, startProgram } from "../support/program.js";

let program: Program;
beforeAll(async () => {
  program = await startProgram({ env: { BAD_TOKENS_PER_MINUTE: "1000" } });
});
afterAll(() => program?.stop());

async function rpc(path: string, { key = program.bootstrap.analyst.api_key, body = "{}", headers = {} } = {}) {
  const reply = await fetch(`${program.baseUrl}/rpc/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...(key !== "" && { authorization: `Bearer ${key}` }), ...headers },
    body,
  });
  return { status: reply.status, body: (await reply.json()) as Record<string, unknown> };
}

test("a unary rpc is called as the user of the key", async () => {
  const { status, body } = await rpc("auth.v1.ApiKeyService/WhoAmI");
  expect(status).toBe(200);
  expect(JSON.stringify(body)).toContain(program.bootstrap.analyst.email);
});

test("no rpc for services is reached through the façade, by any credential", async () => {
  const paths = [...readImage()]
    .flatMap((desc) => (desc.kind === "service" ? desc.methods : []))
    .filter((method) => ["internal", "delegated"].includes(getOption(method, scope)))
    .map((method) => `${method.parent.typeName}/${method.name}`);
  expect(paths.length).toBeGreaterThan(15);
  const ours = readFileSync(join(program.dataDir, "service-key"), "utf8").trim();
  const { admin, analyst } = program.bootstrap;
  const types = ["application/json", "application/proto", "application/connect+json", "application/grpc-web+proto"];
  for (const path of paths) {
    for (const key of [ours, admin.api_key, analyst.api_key, ""]) {
      const { status, body } = await rpc(path, { key });
      expect([path, status, body.code]).toEqual([path, 403, "permission_denied"]);
    }
    for (const type of types.slice(1)) {
      const reply = await fetch(`${program.baseUrl}/rpc/${path}`, {
        method: "POST",
        headers: { "content-type": type, authorization: `Bearer ${ours}` },
        body: new Uint8Array(5),
      });
      const told = `${reply.status} ${reply.headers.get("grpc-status")} ${await reply.text()}`;
      expect([path, type, told]).toEqual([path, type, expect.stringMatching(/permission_denied|^200 7 /)]);
    }
  }
});

describe("refused is", () => {
  test.each([
    ["who brings no key", "auth.v1.ApiKeyService/WhoAmI", { key: "" }, 401, "unauthenticated"],
    ["a key that is none", "auth.v1.ApiKeyService/WhoAmI", { key: "nothing" }, 401, "unauthenticated"],
    ["what the user may not", "catalogue.v1.SettingService/GetSettings", {}, 403, "permission_denied"],
    [
      "what only services may",
      "auth.v1.WatchService/Publish",
      { body: '{"kind":1,"id":"x"}' },
      403,
      "permission_denied",
    ],
    [
      "a platform token, which never leaves",
      "auth.v1.PlatformTokenService/MintPlatformToken",
      { body: '{"server":"cti"}' },
      403,
      "permission_denied",
    ],
    ["an unknown rpc", "auth.v1.ApiKeyService/Nothing", {}, 501, "unimplemented"],
    ["an unknown service", "nothing.v1.NothingService/Nothing", {}, 501, "unimplemented"],
    ["a stream both ways for services", "auth.v1.WatchService/Watch", {}, 403, "permission_denied"],
    ["a broken rule", "core.v1.AgentService/ListAgents", { body: '{"pageSize":1000}' }, 400, "invalid_argument"],
    ["an unknown field", "core.v1.AgentService/ListAgents", { body: '{"colour":"red"}' }, 400, "invalid_argument"],
    ["what is not JSON", "core.v1.AgentService/ListAgents", { body: "{" }, 400, "invalid_argument"],
    [
      "another media type",
      "core.v1.AgentService/ListAgents",
      { headers: { "content-type": "application/xml" } },
      501,
      "unimplemented",
    ],
  ])("%s", async (_what, path, given, status, code) => {
    const reply = await rpc(path, given);
    expect([reply.status, reply.body.code]).toEqual([status, code]);
    expect(reply.body.message).toMatch(/\S/);
  });
});

test("spans that were sent over HTTP are read as the same user's", async () => {
  const now = String(BigInt(Date.now()) * 1_000_000n);
  const span = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", name: "over HTTP" };
  const attributes = [{ key: "service.name", value: { stringValue: "by-hand" } }];
  const scopeSpans = [{ spans: [{ ...span, startTimeUnixNano: now, endTimeUnixNano: now }] }];
  const reply = await fetch(`${program.baseUrl}/v1/traces`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${program.bootstrap.analyst.api_key}` },
    body: JSON.stringify({ resourceSpans: [{ resource: { attributes }, scopeSpans }] }),
  });
  expect([reply.status, await reply.json()]).toEqual([200, {}]);
  const key = program.bootstrap.admin.api_key;
  const read = await rpc("traces.v1.TraceInspectionService/InspectAgentTraces", { key });
  expect(read.body.traces).toMatchObject([{ name: "over HTTP", source: "by-hand" }]);
});
