import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { readImage } from "../../services/shared/tools/image.js";
import { readTools } from "../../services/shared/tools/tools.js";
import { type Program, startProgram } from "../support/program.js";
import { titled } from "../support/titled.js";
import { NEEDED, preparePhishingDrill, TOOLS } from "../truth/aev/drill.js";
import { type Person, personOf } from "../truth/frame/product.js";

// A job from end to end over MCP on the built-in platform, as somebody with just
// the rights it needs. JOB_TRANSCRIPTS names a folder for what was said.

const known = new Set(readTools(readImage()).map(({ name }) => name));
const missing = TOOLS.filter((tool) => !known.has(tool));
const lacks = missing.length === 0 ? undefined : `there is no tool ${missing.join(", ")}`;

const EMAIL = "driller@sallyport.example";
let program: Program;
let person: Person;

beforeAll(async () => {
  program = await startProgram();
  const { admin, grpc_url } = program.bootstrap;
  const options = { baseUrl: grpc_url, apiKey: admin.api_key };
  await connectClient(UserService, options).createUser({ email: EMAIL, name: "driller" });
  const { token } = await connectClient(ApiKeyService, options).createApiKey({ userEmail: EMAIL, name: "drill" });
  person = personOf(`${program.baseUrl}/mcp/aev`, "driller", EMAIL, token);
});
afterAll(() => program?.stop());

test.skipIf(lacks !== undefined)(
  titled("a phishing drill is prepared with just the rights it needs", lacks),
  async () => {
    const { tenants } = await person.get<{ tenants: { capabilities: string[] }[] }>("whoami");
    expect(tenants.map((tenant) => tenant.capabilities)).toEqual([NEEDED]);
    const { transcript } = await preparePhishingDrill(person, {
      name: "Phishing drill",
      rules: "Nobody outside the teams is written to. The desk ends the drill.",
    });
    expect(transcript.count).toBeLessThan(22);
    expect(transcript.bytes).toBeLessThan(20_000);
    transcript.write("aev-phishing-drill");
  },
);
