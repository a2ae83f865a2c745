import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { type Program, startProgram } from "../support/program.js";
import { type Ground, JOBS, makeGround } from "../truth/cti/jobs.js";
import { type Person, personOf } from "../truth/frame/product.js";
import { Transcript } from "../truth/frame/transcript.js";

// An analyst's jobs on threat intelligence, from end to end over MCP, as people
// of the built-in platform with no more rights than they need: one who may
// write and not delete, and one who may only read.

let program: Program;
let ground: Ground;
let people: Readonly<Record<"writer" | "reader", Person>>;

beforeAll(async () => {
  program = await startProgram();
  const { bootstrap, baseUrl } = program;
  const options = { baseUrl: bootstrap.grpc_url, apiKey: bootstrap.admin.api_key };
  const email = "reader@sallyport.example";
  await connectClient(UserService, options).createUser({ email, name: "Reader" });
  const { token } = await connectClient(ApiKeyService, options).createApiKey({ userEmail: email, name: "jobs" });
  const url = `${baseUrl}/mcp/cti`;
  people = {
    writer: personOf(url, "writer", "analyst@sallyport.example", bootstrap.analyst.api_key),
    reader: personOf(url, "reader", email, token),
  };
  ground = await makeGround(people.writer, "built-in", { flaws: "", minCvss: 7 });
});
afterAll(() => program?.stop());

test.each(JOBS)("$title", { timeout: 30_000 }, async ({ title, as, run }) => {
  const job = new Transcript(title, people[as]);
  await run(job, ground);
  job.write(`cti ${title}`);
  expect(job.count).toBeLessThanOrEqual(14);
  expect(job.bytes).toBeLessThan(20_000);
});

test("who may only read cannot write", async () => {
  const { refusal } = await people.reader.ask("create_entity", { type: "Malware", name: "Not written by a reader" });
  expect(refusal).toMatch(/right|tool/);
});
