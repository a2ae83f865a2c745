import { create, type MessageInitShape } from "@bufbuild/protobuf";
import { createClient, type Transport } from "@connectrpc/connect";
import { createConnectTransport, createGrpcTransport, createGrpcWebTransport } from "@connectrpc/connect-node";
import { expect, onTestFinished, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { AuditKind } from "#proto/auth/v1/audit_service_pb.js";
import {
  ServerReflection,
  type ServerReflectionRequest,
  ServerReflectionRequestSchema,
} from "#proto/grpc/reflection/v1/reflection_pb.js";
import type { Auditor } from "../../../../services/shared/audit/auditor.js";
import { kindOf } from "../../../../services/shared/audit/entry.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import type { Call } from "../../../../services/shared/rpc/call.js";
import { serveConnect } from "../../../../services/shared/rpc/connect.js";
import { reflection } from "../../../../services/shared/rpc/reflection.js";
import { readImage } from "../../../../services/shared/tools/image.js";
import { ANA } from "./socket/support.js";

const SERVICE = "core.v1.AgentService";
const FILE = { case: "fileContainingSymbol", value: SERVICE } as const;
const method = reflection(readImage(), [SERVICE]);

type Question = Required<MessageInitShape<typeof ServerReflectionRequestSchema>>["messageRequest"];

async function* asking(...questions: Question[]): AsyncIterable<ServerReflectionRequest> {
  for (const messageRequest of questions) {
    yield create(ServerReflectionRequestSchema, { host: "here", messageRequest } as never);
  }
}

/** A server that asks who calls, and what its audit is told. */
async function startServer(): Promise<{ readonly baseUrl: string; readonly told: unknown[] }> {
  const authenticator = { authenticate: () => ({ caller: ANA, assertion: "" }) };
  const told: unknown[] = [];
  const audit = {
    note: (entry: unknown) => void told.push(entry),
    keep: async (entry: unknown) => void told.push(entry),
  };
  const steps = { authenticator, log: silentLog, audit: audit as unknown as Auditor };
  const server = await serveConnect({ host: "127.0.0.1", port: 0, methods: [{ method, steps }] });
  onTestFinished(() => server.close(0));
  return { baseUrl: `http://127.0.0.1:${server.port}`, told };
}

test("a file is answered the same in every protocol, and what is asked after it too", async () => {
  const { baseUrl } = await startServer();
  const transports: Readonly<Record<string, Transport>> = {
    json: createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: false }),
    connect: createConnectTransport({ baseUrl, httpVersion: "2", useBinaryFormat: true }),
    grpc: createGrpcTransport({ baseUrl }),
    grpcJson: createGrpcTransport({ baseUrl, useBinaryFormat: false }),
    grpcWeb: createGrpcWebTransport({ baseUrl, httpVersion: "2" }),
  };
  const told: Record<string, unknown> = {};
  for (const [name, transport] of Object.entries(transports)) {
    const questions = asking(FILE, { case: "listServices", value: "" }, FILE, {
      case: "fileByFilename",
      value: "none",
    });
    const replies: unknown[] = [];
    for await (const reply of createClient(ServerReflection, transport).serverReflectionInfo(questions)) {
      replies.push(reply);
    }
    told[name] = replies;
  }
  const { json, ...others } = told;
  const file = { case: "fileDescriptorResponse", value: { fileDescriptorProto: expect.any(Array) } };
  expect(json).toMatchObject([
    { validHost: "here", originalRequest: { messageRequest: FILE }, messageResponse: file },
    { messageResponse: { case: "listServicesResponse", value: { service: [{ name: SERVICE }] } } },
    { messageResponse: file },
    { messageResponse: { case: "errorResponse" } },
  ]);
  for (const other of Object.values(others)) expect(other).toEqual(json);
});

test("who reads the API changes nothing: the audit has no record of it", async () => {
  const { baseUrl, told } = await startServer();
  const client = createClient(ServerReflection, createGrpcTransport({ baseUrl }));
  for await (const reply of client.serverReflectionInfo(asking(FILE))) expect(reply.validHost).toBe("here");
  expect(told).toEqual([]);
  expect(kindOf(ServerReflection.method.serverReflectionInfo, "account")).toBeUndefined();
  expect(kindOf(ApiKeyService.method.createApiKey, "account")).toBe(AuditKind.ADMINISTRATION);
});

test("the bytes of a file are the same for everybody who asks", async () => {
  const given: Uint8Array[] = [];
  const call = { append: (fields: Uint8Array) => given.push(fields) } as unknown as Call;
  for (let n = 0; n < 2; n++) {
    for await (const reply of method.handle(asking(FILE) as never, call) as AsyncIterable<object>) {
      expect(reply).not.toHaveProperty("messageResponse");
    }
  }
  expect(given[0]?.byteLength).toBeGreaterThan(10_000);
  expect(given[1]).toBe(given[0]);
});
