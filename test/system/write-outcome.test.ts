import type { ServerResponse } from "node:http";
import { fromBinary } from "@bufbuild/protobuf";
import { ConnectError } from "@connectrpc/connect";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { AnnotationService } from "#proto/cti/v1/annotation_service_pb.js";
import { WriteFailure_Outcome as Outcome, WriteFailureSchema } from "#proto/mcp/v1/write_failure_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { startSandbox } from "../../services/sandbox/cti/server.js";
import type { Sandbox } from "../../services/sandbox/sandbox.js";
import { legacy, modern } from "../facade/support/client.js";
import { call } from "../support/mcp.js";
import { type Hostile, startHostile } from "../support/platforms/hostile.js";
import { freePorts, type Program, startProgram } from "../support/program.js";

// What an MCP client is told became of a write, through the whole service, in
// both eras: a tool that makes two changes on a platform, each of which is
// refused or lost on the way. `add_labels` creates a label and then adds it.

const OUTCOME = "sallyport/write_outcome";
const ERAS = { modern, legacy };
const READ_FIRST = /read before you try again/;

let platform: Sandbox;
let hostile: Hostile;
let program: Program;
let url: string;
let key: string;
let objectId: string;

beforeAll(async () => {
  const [port] = await freePorts(1);
  const trust = `http://127.0.0.1:${port}`;
  platform = await startSandbox({ host: "127.0.0.1", port: 0, trust });
  hostile = await startHostile();
  hostile.towards = platform.url;
  const env = { PORT: String(port), BASE_URL: trust, CTI_URL: hostile.url, CTI_PUBLIC_URL: platform.url };
  program = await startProgram({ env });
  url = `${trust}/mcp/cti`;
  key = program.bootstrap.admin.api_key;
  const { entities } = await call<{ entities: { id: string }[] }>(url, key, "search_entities", { types: ["Malware"] });
  objectId = entities[0]?.id as string;
});
afterEach(() => hostile.disarm());
afterAll(async () => {
  await program?.stop();
  await hostile?.close();
  await platform?.close();
});

type Fault = (response: ServerResponse) => unknown;
const json = (status: number, body: unknown) => (response: ServerResponse) =>
  void response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));

const refused: Fault = json(200, { data: null, errors: [{ message: "x", extensions: { code: "FORBIDDEN_ACCESS" } }] });
const tooOften: Fault = json(429, {});
const lost: Fault = (response) => response.destroy();
const FIRST = "mutation CreateLabel";
const SECOND = "mutation AddLabels";

let labels = 0;
async function ask(era: keyof typeof ERAS, name: string, args: object) {
  const { body, headers } = ERAS[era]("tools/call", { name, arguments: args });
  const reply = await fetch(url, {
    method: "POST",
    headers: {
      authorization: `Bearer ${key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify(body),
  });
  const { result } = (await reply.json()) as { result: Result };
  return result;
}

interface Result {
  readonly isError?: boolean;
  readonly content: readonly { readonly text: string }[];
  readonly _meta?: Readonly<Record<string, unknown>>;
}

const addLabel = (era: keyof typeof ERAS, id = objectId) =>
  ask(era, "add_labels", { object_id: id, labels: [`outcome ${labels++}`] });

describe.each(["modern", "legacy"] as const)("in the %s era", (era) => {
  test.each([
    ["a refused first change", FIRST, refused, "unchanged", undefined],
    ["a refused second change", SECOND, refused, "partly", READ_FIRST],
    [
      "a first change that the platform has no time for",
      FIRST,
      tooOften,
      "unchanged",
      /nothing was changed, so try again/,
    ],
    ["a second change that the platform has no time for", SECOND, tooOften, "partly", READ_FIRST],
    ["a first change whose answer is lost", FIRST, lost, "unknown", READ_FIRST],
    ["a second change whose answer is lost", SECOND, lost, "unknown", READ_FIRST],
  ] as const)("%s", async (_what, mutation, fault, outcome, words) => {
    hostile.arm(({ body }) => body.includes(mutation), fault);
    const { isError, content, _meta } = await addLabel(era);
    expect(hostile.met).toBe(1);
    expect({ isError, outcome: _meta?.[OUTCOME] }).toEqual({ isError: true, outcome });
    if (words !== undefined) expect(content[0]?.text).toMatch(words);
  });

  test("a refused check, and a wrong argument, say unchanged", async () => {
    const unknown = await addLabel(era, "11111111-1111-4111-8111-111111111111");
    const wrong = await ask(era, "add_labels", { object_id: objectId, labels: 5 });
    for (const { isError, _meta } of [unknown, wrong]) {
      expect({ isError, outcome: _meta?.[OUTCOME] }).toEqual({ isError: true, outcome: "unchanged" });
    }
  });

  test("a write that succeeds, and a tool that reads, have no such field", async () => {
    const { isError, _meta } = await addLabel(era);
    expect(isError).toBeUndefined();
    expect(_meta ?? {}).not.toHaveProperty([OUTCOME]);
    for (const fault of [refused, tooOften, lost]) {
      hostile.arm(({ body }) => !body.includes("query Me"), fault);
      const read = await ask(era, "search_entities", { types: ["Malware"] });
      expect(read.isError).toBe(true);
      expect(read._meta ?? {}).not.toHaveProperty([OUTCOME]);
      expect(read.content[0]?.text).not.toMatch(/nothing was|may or may not/);
    }
  });
});

test("over gRPC the error has the outcome as a detail", async () => {
  hostile.arm(({ body }) => body.includes(SECOND), refused);
  const client = connectClient(AnnotationService, { baseUrl: program.bootstrap.grpc_url, apiKey: key });
  const error = await client.addLabels({ objectId, labels: ["outcome over gRPC"] }).catch(ConnectError.from);
  expect((error as ConnectError).findDetails(WriteFailureSchema)).toMatchObject([{ outcome: Outcome.PARTLY }]);
});

test("over JSON too", async () => {
  hostile.arm(({ body }) => body.includes(FIRST), lost);
  const reply = await fetch(`${program.baseUrl}/rpc/cti.v1.AnnotationService/AddLabels`, {
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ object_id: objectId, labels: ["outcome over JSON"] }),
  });
  const { details } = (await reply.json()) as { details: { type: string; value: string }[] };
  const [detail] = details.filter(({ type }) => type === "mcp.v1.WriteFailure");
  const { outcome } = fromBinary(WriteFailureSchema, Buffer.from(detail?.value ?? "", "base64"));
  expect(outcome).toBe(Outcome.UNKNOWN);
});
