import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { type Program, startProgram } from "../support/program.js";
import { type Ground, makeGround, profile, triage } from "../truth/cti/jobs.js";
import { type Person, personOf } from "../truth/frame/product.js";

// An analyst's jobs on threat intelligence, from end to end over MCP, as people
// of the built-in platform with no more rights than they need.

let program: Program;
let ground: Ground;
let writer: Person;
let reader: Person;

beforeAll(async () => {
  program = await startProgram();
  const { bootstrap, baseUrl } = program;
  const options = { baseUrl: bootstrap.grpc_url, apiKey: bootstrap.admin.api_key };
  const email = "reader@sallyport.example";
  await connectClient(UserService, options).createUser({ email, name: "Reader" });
  const { token } = await connectClient(ApiKeyService, options).createApiKey({ userEmail: email, name: "jobs" });
  const { analyst } = bootstrap;
  writer = personOf(`${baseUrl}/mcp/cti`, "analyst", analyst.email, analyst.api_key);
  reader = personOf(`${baseUrl}/mcp/cti`, "reader", email, token);
  ground = await makeGround(writer, "built-in");
}, 60_000);
afterAll(() => program?.stop());

test("an indicator is triaged and written up, by who may write and not delete", async () => {
  const job = await triage(writer, ground);
  job.write(`cti ${job.title}`);
  expect(job.count).toBeLessThanOrEqual(14);
  expect(job.bytes).toBeLessThan(20_000);
});

test("an actor is profiled with its techniques and tools, by who may only read", async () => {
  const job = await profile(reader, ground);
  job.write(`cti ${job.title}`);
  expect(job.count).toBeLessThanOrEqual(10);
  expect(job.bytes).toBeLessThan(20_000);
  const { refusal } = await reader.ask("create_entity", { type: "Malware", name: "Not written by a reader" });
  expect(refusal).toMatch(/right|tool/);
});
