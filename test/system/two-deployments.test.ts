import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { DelegationService } from "#proto/auth/v1/delegation_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { PromptService } from "#proto/core/v1/prompt_service_pb.js";
import { connectClient } from "../../clients/node/connect.js";
import { connectRemote } from "../../services/shared/rpc/remote.js";
import { call, post } from "../support/mcp.js";
import { connectByHand } from "../support/oauth/by-hand.js";
import { personAt, settleIn } from "../support/oauth/person.js";
import { type Program, startProgram } from "../support/program.js";

// Two deployments with the same people: nothing that one gives out is good at the other.

let here: Program;
let there: Program;

beforeAll(async () => {
  [here, there] = await Promise.all([startProgram(), startProgram()]);
  for (const one of [here, there])
    for (const name of ["a", "b", "c"])
      await call(`${one.baseUrl}/mcp/core`, one.bootstrap.analyst.api_key, "create_prompt", { name, template: name });
});
afterAll(async () => {
  await here?.stop();
  await there?.stop();
});

const at = <S extends Parameters<typeof connectClient>[0]>(service: S, { bootstrap }: Program, apiKey: string) =>
  connectClient(service, { baseUrl: bootstrap.grpc_url, apiKey, retries: 0 });
const statusAt = async ({ baseUrl }: Program, token: string) =>
  (await post(`${baseUrl}/mcp/cti`, token, "tools/list")).status;
const serviceKeyOf = ({ dataDir }: Program): string => readFileSync(join(dataDir, "service-key"), "utf8").trim();
const refusedWith = (code: Code) => expect.objectContaining({ code });

/** The assertion of the analyst for core, as a façade of the deployment gets it. */
async function assertionOf(program: Program): Promise<string> {
  const { outcome } = await at(CredentialService, program, serviceKeyOf(program)).verifyCredential({
    token: program.bootstrap.analyst.api_key,
  });
  if (outcome.case !== "verified") throw new Error("refused");
  return outcome.value.assertions["core-objects"] as string;
}

test("the people are the same", () => {
  expect(here.bootstrap.analyst.email).toBe(there.bootstrap.analyst.email);
});

test("API keys and the service's key", async () => {
  expect(await statusAt(here, here.bootstrap.analyst.api_key)).toBe(200);
  expect(await statusAt(there, here.bootstrap.analyst.api_key)).toBe(401);
  const users = at(UserService, there, here.bootstrap.admin.api_key);
  await expect(users.listUsers({})).rejects.toEqual(refusedWith(Code.Unauthenticated));
  const asService = at(CredentialService, there, serviceKeyOf(here));
  await expect(asService.verifyCredential({ token: there.bootstrap.analyst.api_key })).rejects.toEqual(
    refusedWith(Code.Unauthenticated),
  );
});

test("access tokens", async () => {
  await settleIn(here, here.bootstrap.analyst);
  const { tokens } = await connectByHand(here.baseUrl, "cti", personAt(here.bootstrap.analyst));
  expect(await statusAt(here, tokens.access_token)).toBe(200);
  expect(await statusAt(there, tokens.access_token)).toBe(401);
});

test("assertions and delegations", async () => {
  const assertion = await assertionOf(here);
  const promptsAt = ({ bootstrap }: Program) =>
    connectRemote({ "core-objects": bootstrap.grpc_url }).unary(
      PromptService.method.listPrompts,
      {},
      { credential: { assertion } },
    );
  expect((await promptsAt(here)).prompts.length).toBeGreaterThan(2);
  await expect(promptsAt(there)).rejects.toEqual(refusedWith(Code.Unauthenticated));

  const [ours, theirs] = [here, there].map((one) => at(DelegationService, one, serviceKeyOf(one))) as [
    ReturnType<typeof at<typeof DelegationService>>,
    ReturnType<typeof at<typeof DelegationService>>,
  ];
  await expect(theirs.createDelegation({ subjectToken: assertion })).rejects.toEqual(refusedWith(Code.Unauthenticated));
  const { delegation } = await ours.createDelegation({ subjectToken: assertion });
  expect((await ours.exchangeDelegation({ delegation, audience: "core-objects" })).assertion).not.toBe("");
  await expect(theirs.exchangeDelegation({ delegation, audience: "core-objects" })).rejects.toEqual(
    refusedWith(Code.Unauthenticated),
  );
});

test("page tokens", async () => {
  const prompts = (program: Program, page_token?: string) =>
    call<{ next_page_token: string }>(
      `${program.baseUrl}/mcp/core`,
      program.bootstrap.analyst.api_key,
      "list_prompts",
      { page_size: 1, ...(page_token !== undefined && { page_token }) },
    );
  const { next_page_token } = await prompts(here);
  await expect(prompts(here, next_page_token)).resolves.toHaveProperty("prompts");
  await expect(prompts(there, next_page_token)).rejects.toThrow("page_token is not from this list");
});
