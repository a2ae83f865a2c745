import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { Client, credentials, Metadata, type ServiceError } from "@grpc/grpc-js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LaunchScenarioRequestSchema, ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { AgentService, GetAgentRequestSchema } from "#proto/core/v1/agent_service_pb.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import type { Caller } from "../../../../services/shared/rpc/call.js";
import { type RpcServer, serveConnect } from "../../../../services/shared/rpc/connect.js";
import { notFound } from "../../../../services/shared/rpc/errors.js";
import { grpcMessageOf } from "../../../../services/shared/rpc/grpc-message.js";
import { serverStream, unary } from "../../../../services/shared/rpc/method.js";

// What a service says reaches clients of gRPC as it was said, whichever way
// they undo the escapes of the field.

const SENTENCES = [
  "page_size: must be at most 100, and at least 1; see a/b?c=d&e#f [x@y.org] + $1",
  "100% of it, %2C and %zz included",
  "größer als 5 €, 日本語, 🦊",
  "two\nlines\tand a tab",
];

let server: RpcServer;
beforeAll(async () => {
  const scopes = new Set(["core:read", "aev:write"]);
  const caller: Caller = { id: "u", email: "", name: "", admin: false, groups: [], scopes, keyId: "k", service: false };
  const steps = { authenticator: { authenticate: () => ({ caller, assertion: "" }) }, log: silentLog };
  const sentenceOf = (n: string): string => SENTENCES[Number(n)] as string;
  const methods = [
    unary(AgentService.method.getAgent, ({ agentId }) => {
      throw notFound(sentenceOf(agentId));
    }),
    // biome-ignore lint/correctness/useYield: it fails before it has anything to say
    serverStream(ScenarioService.method.launchScenario, async function* ({ scenarioId }) {
      throw notFound(sentenceOf(scenarioId.slice(-1)));
    }),
  ];
  server = await serveConnect({
    host: "127.0.0.1",
    port: 0,
    methods: methods.map((method) => ({ method, steps })),
  });
});
afterAll(() => server?.close(0));

/** What a client of grpc-js shows of one that fails. */
function grpcJs(path: string, request: Uint8Array): Promise<ServiceError> {
  const client = new Client(`127.0.0.1:${server.port}`, credentials.createInsecure());
  const metadata = new Metadata();
  metadata.set("authorization", "Bearer any");
  return new Promise<ServiceError>((resolve, reject) => {
    const written = (value: Uint8Array): Buffer => Buffer.from(value);
    const read = (value: Buffer): Buffer => value;
    client.makeUnaryRequest(path, written, read, request, metadata, (error) =>
      error === null ? reject(new Error("nothing was refused")) : resolve(error),
    );
  }).finally(() => client.close());
}

/** As the specification says a client undoes it, and Python and Go do: every escape, each of a byte. */
function undone(field: string): string {
  const bytes = field.replace(/%([0-9a-fA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(bytes, "latin1").toString("utf8");
}

test.each(SENTENCES)("%j is the same in the field, undone, and holds nothing that the field may not", (sentence) => {
  const field = grpcMessageOf(sentence);
  expect(field).toMatch(/^[\x20-\x7e]*$/);
  expect(undone(field)).toBe(sentence);
});

test.each(["a", "é", "한", "𝒳", `${"é".repeat(300)}${"a".repeat(90_000)}`])(
  "a sentence of many %j is cut to what clients take in a field, at a whole character",
  (piece) => {
    const field = grpcMessageOf(piece.repeat(Math.ceil(20_000 / piece.length)));
    expect(field.length).toBeLessThanOrEqual(4_096);
    expect(field.length).toBeGreaterThan(2_500);
    expect(undone(field)).toMatch(/…$/);
    expect(undone(field)).not.toContain("\ufffd");
  },
);

test("what is no text at all is said as far as it is one", () => {
  expect(undone(grpcMessageOf("half \ud83e of it"))).toBe("half \ufffd of it");
});

test.each(SENTENCES.map((sentence, i) => [sentence, String(i)]))("grpc-js shows %j", async (sentence, n) => {
  const agent = toBinary(GetAgentRequestSchema, create(GetAgentRequestSchema, { agentId: n }));
  const launch = { scenarioId: `00000000-0000-4000-8000-00000000000${n}` };
  const scenario = toBinary(LaunchScenarioRequestSchema, create(LaunchScenarioRequestSchema, launch));
  const said = { code: Code.NotFound, details: sentence };
  expect(await grpcJs("/core.v1.AgentService/GetAgent", agent)).toMatchObject(said);
  expect(await grpcJs("/aev.v1.ScenarioService/LaunchScenario", scenario)).toMatchObject(said);
});

test.each(SENTENCES.map((sentence, i) => [sentence, String(i)]))("Connect's client shows %j", async (sentence, n) => {
  const agents = createClient(AgentService, createGrpcTransport({ baseUrl: `http://127.0.0.1:${server.port}` }));
  const failed = await agents.getAgent({ agentId: n }).catch((error: unknown) => ConnectError.from(error));
  expect(failed).toMatchObject({ code: Code.NotFound, rawMessage: sentence });
});
