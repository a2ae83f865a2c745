import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError } from "@connectrpc/connect";
import { encodeEnvelope, type UniversalHandler } from "@connectrpc/connect/protocol";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiKeyService, RevokeApiKeyRequestSchema } from "#proto/auth/v1/api_key_service_pb.js";
import { SkillService } from "#proto/core/v1/skill_service_pb.js";
import { TraceService } from "#proto/opentelemetry/proto/collector/trace/v1/trace_service_pb.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import { bounded } from "../../../../services/shared/rpc/bounded.js";
import { boundsOf } from "../../../../services/shared/rpc/bounds.js";
import type { Caller } from "../../../../services/shared/rpc/call.js";
import { type RpcServer, serveConnect } from "../../../../services/shared/rpc/connect.js";
import { unary, withScope } from "../../../../services/shared/rpc/method.js";

const message = toBinary(RevokeApiKeyRequestSchema, create(RevokeApiKeyRequestSchema, { id: "k".repeat(100) }));

/** What a handler behind the bounds is given of these pieces. */
async function passed(type: string, pieces: readonly Uint8Array[]): Promise<Buffer> {
  const read: Uint8Array[] = [];
  const handler = Object.assign(
    async ({ body }: { body: AsyncIterable<Uint8Array> }) => {
      for await (const piece of body) read.push(piece);
      return { status: 200 };
    },
    { method: ApiKeyService.method.revokeApiKey },
  ) as unknown as UniversalHandler;
  const body = (async function* () {
    yield* pieces;
  })();
  await bounded(handler, {})({ header: new Headers({ "content-type": type }), body } as never);
  return Buffer.concat(read);
}

/** The same bytes in pieces that end at these places. */
function piecesOf(bytes: Uint8Array, ends: readonly number[]): Uint8Array[] {
  const places = [0, ...ends.map((end) => end % bytes.length).sort((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, i) => bytes.subarray(places[i], end));
}

test("what is within the bounds passes as it came, however it is cut into pieces", async () => {
  const stream = Buffer.concat([0, 1, 2].map(() => encodeEnvelope(0, message)));
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(), { maxLength: 12 }), async (ends) => {
      expect(await passed("application/proto", piecesOf(message, ends))).toEqual(Buffer.from(message));
      expect(await passed("application/grpc", piecesOf(stream, ends))).toEqual(stream);
    }),
    { numRuns: 200, seed: 8 },
  );
});

test("a message that is longer than its rpc may need is refused at its length", async () => {
  const { bytes } = boundsOf(RevokeApiKeyRequestSchema);
  const prefix = encodeEnvelope(0, new Uint8Array(bytes + 1)).subarray(0, 5);
  await expect(passed("application/grpc+proto", [prefix])).rejects.toThrow("the limit of this rpc");
  await expect(passed("application/json", [new Uint8Array(bytes), new Uint8Array(1)])).rejects.toThrow(
    "the limit of this rpc",
  );
});

describe("over a port", () => {
  const ANA: Caller = {
    id: "u1",
    email: "ana@example.org",
    name: "Ana",
    admin: false,
    groups: [],
    scopes: new Set(["account"]),
    keyId: "k1",
    service: false,
  };
  const steps = { authenticator: { authenticate: () => ({ caller: ANA, assertion: "ana" }) }, log: silentLog };
  const methods = [
    unary(ApiKeyService.method.revokeApiKey, () => ({})),
    withScope(
      "account",
      unary(TraceService.method.export, () => ({})),
    ),
    withScope(
      "account",
      unary(SkillService.method.createSkill, ({ name, files }) => ({
        skill: { name, description: files.map(({ text }) => text.length).join() },
      })),
    ),
  ];
  let server: RpcServer;
  beforeAll(async () => {
    const mounted = methods.map((method) => ({ method, steps }));
    server = await serveConnect({ host: "127.0.0.1", port: 0, methods: mounted });
  });
  afterAll(() => server.close(100));

  const REVOKE = "auth.v1.ApiKeyService/RevokeApiKey";
  const CREATE = "core.v1.SkillService/CreateSkill";
  const EXPORT = "opentelemetry.proto.collector.trace.v1.TraceService/Export";

  async function codeOf(path: string, type: string, body: Uint8Array | string): Promise<unknown> {
    const url = `http://127.0.0.1:${server.port}/${path}`;
    const answer = await fetch(url, { method: "POST", headers: { "content-type": type }, body: Buffer.from(body) });
    return ((await answer.json()) as { code?: string }).code;
  }

  test("a message that is none is the caller's fault, and never internal", async () => {
    expect(await codeOf(REVOKE, "application/proto", Uint8Array.of(0x0a, 9, 1))).toBe("invalid_argument");
    expect(await codeOf(REVOKE, "application/proto", Uint8Array.of(0x0a, 1, 0xff))).toBe("invalid_argument");
    expect(await codeOf(REVOKE, "application/json", "{")).toBe("invalid_argument");
  });

  test("a text of 4 MB where an id belongs is refused by its length, and one of a little too much by the rule", async () => {
    expect(await codeOf(REVOKE, "application/json", JSON.stringify({ id: "\0".repeat(700_000) }))).toBe(
      "resource_exhausted",
    );
    expect(await codeOf(REVOKE, "application/json", JSON.stringify({ id: "k".repeat(129) }))).toBe("invalid_argument");
  });

  test("two million empty messages, and JSON of as many values, are not decoded", async () => {
    const empty = Buffer.alloc(4 << 20);
    for (let i = 0; i < empty.length; i += 2) empty[i] = 0x0a;
    expect(await codeOf(EXPORT, "application/proto", empty)).toBe("resource_exhausted");
    const json = `{"resourceSpans":[${"{},".repeat(1_000_000)}{}]}`;
    expect(await codeOf(EXPORT, "application/json", json)).toBe("invalid_argument");
    expect(await codeOf(EXPORT, "application/json", `{"resourceSpans":${"[".repeat(300_000)}`)).toBe(
      "invalid_argument",
    );
  });

  test.each([1, 50_000])("JSON with texts of %i characters is read the same", async (length) => {
    const text = "x".repeat(length);
    const files = [1, 2].map((n) => ({ path: `${n}.md`, text }));
    const skill = { name: "a", description: "Does.", instructions: "Do.", files };
    const answerTo = async (json: string): Promise<unknown> => {
      const headers = { "content-type": "application/json" };
      return (await fetch(`http://127.0.0.1:${server.port}/${CREATE}`, { method: "POST", headers, body: json })).json();
    };
    const whole = JSON.stringify(skill);
    expect(await answerTo(whole)).toEqual({ skill: { name: "a", description: `${length},${length}` } });
    const refused = (message: string) => ({ code: "invalid_argument", message: expect.stringContaining(message) });
    expect(await answerTo(JSON.stringify({ ...skill, name: 7 }))).toMatchObject(refused("CreateSkillRequest.name"));
    expect(await answerTo(whole.slice(0, -1))).toMatchObject(refused("from JSON"));
    expect(await answerTo(`{"name":"b",${whole.slice(1)}`)).toMatchObject(refused("name"));
    expect(await answerTo(JSON.stringify({ ...skill, name: "" }))).toMatchObject(refused("name"));
    const unknown = await answerTo(JSON.stringify({ ...skill, no: 1 }));
    expect(unknown).toEqual({ skill: { name: "a", description: `${length},${length}` } });
  });

  test("errors of gRPC are its own", async () => {
    const { createGrpcTransport } = await import("@connectrpc/connect-node");
    const { createClient } = await import("@connectrpc/connect");
    const transport = createGrpcTransport({ baseUrl: `http://127.0.0.1:${server.port}` });
    const client = createClient(ApiKeyService, transport);
    const failed = await client.revokeApiKey({ id: "k".repeat(100_000) }).catch((error: unknown) => error);
    expect(ConnectError.from(failed).code).toBe(Code.ResourceExhausted);
    expect(await client.revokeApiKey({ id: "k" })).toBeDefined();
  });
});
