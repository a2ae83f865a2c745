import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import {
  type Caller,
  type Ground,
  makeGround,
  profile,
  type Transcript,
  triage,
  writeTranscripts,
} from "../support/cti-jobs.js";
import { post } from "../support/mcp.js";
import { type Program, startProgram } from "../support/program.js";

// An analyst's jobs on threat intelligence, from end to end over MCP, as people
// of the built-in platform with no more rights than they need.

let program: Program;
let ground: Ground;
let writer: Caller;
let reader: Caller;
const done: Transcript[] = [];

beforeAll(async () => {
  program = await startProgram();
  const { bootstrap, baseUrl } = program;
  const options = { baseUrl: bootstrap.grpc_url, apiKey: bootstrap.admin.api_key };
  const email = "reader@sallyport.example";
  await connectClient(UserService, options).createUser({ email, name: "Reader" });
  const { token } = await connectClient(ApiKeyService, options).createApiKey({ userEmail: email, name: "jobs" });
  const callerOf = (key: string): Caller => ({
    async ask(tool, args = {}) {
      const { text, body } = await post(`${baseUrl}/mcp/cti`, key, "tools/call", { name: tool, arguments: args });
      const result = body.result as
        | { isError?: boolean; content?: { text?: string }[]; structuredContent?: Record<string, unknown> }
        | undefined;
      const said = result?.content?.map((one) => one.text ?? "").join("\n") ?? text;
      if (result === undefined || result.isError === true) return { result: undefined, text: said, refusal: said };
      return { result: result.structuredContent, text: said, refusal: "" };
    },
  });
  writer = callerOf(bootstrap.analyst.api_key);
  reader = callerOf(token);
  ground = await makeGround(writer, "built-in");
}, 60_000);
afterAll(async () => {
  writeTranscripts(done);
  await program?.stop();
});

test("an indicator is triaged and written up, by who may write and not delete", async () => {
  const job = await triage(writer, ground);
  done.push(job);
  expect(job.cost.calls).toBeLessThanOrEqual(14);
  expect(job.cost.bytes).toBeLessThan(20_000);
});

test("an actor is profiled with its techniques and tools, by who may only read", async () => {
  const job = await profile(reader, ground);
  done.push(job);
  expect(job.cost.calls).toBeLessThanOrEqual(10);
  expect(job.cost.bytes).toBeLessThan(20_000);
  const { refusal } = await reader.ask("create_entity", { type: "Malware", name: "Not written by a reader" });
  expect(refusal).toMatch(/right|tool/);
});
