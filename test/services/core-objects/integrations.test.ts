import type { MessageInitShape } from "@bufbuild/protobuf";
import { afterAll, beforeAll, expect, test } from "vitest";
import {
  type CreateIntegrationRequestSchema,
  IntegrationService,
  IntegrationType,
  type UpdateIntegrationRequestSchema,
} from "#proto/core/v1/integration_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import type { IntegrationRecord } from "../../../services/core-objects/kinds/integrations/record.js";
import { refusal } from "./refusal.js";
import { as, type Rig, SEAL, startRig } from "./rig.js";

let rig: Rig;
beforeAll(async () => {
  rig = await startRig();
});
afterAll(() => rig.close());

const { listIntegrations, getIntegration, createIntegration, updateIntegration } = IntegrationService.method;
const KEY = "sk-not-a-real-key-4242";
const MODELS = {
  name: "Models",
  type: IntegrationType.OPENAI,
  endpoint: "https://models.example.com/v1/",
  models: ["large", "small"],
  credential: KEY,
};

const create = async (who: string, request: MessageInitShape<typeof CreateIntegrationRequestSchema>) =>
  (await rig.dispatch.unary(createIntegration, request, as(who))).integration!;
const update = async (who: string, request: MessageInitShape<typeof UpdateIntegrationRequestSchema>) =>
  (await rig.dispatch.unary(updateIntegration, request, as(who))).integration!;
const stored = async (id: string) =>
  (await rig.store.collection<IntegrationRecord>("integrations").findOne({ _id: id }))!;
const opened = async (id: string) => SEAL.open((await stored(id)).sealed, `integrations/${id}/sealed`);

test("an integration is read without its credential, which is sealed for its place", async () => {
  const made = await create("alice", MODELS);
  const { integration } = await rig.dispatch.unary(getIntegration, { integrationId: made.id }, as("alice"));
  expect(integration).toMatchObject({
    type: IntegrationType.OPENAI,
    endpoint: "https://models.example.com/v1",
    models: ["large", "small"],
    hasCredential: true,
    credentialEndsWith: "4242",
  });
  const { integrations } = await rig.dispatch.unary(listIntegrations, {}, as("alice"));
  expect(integrations).toMatchObject([{ id: made.id, type: IntegrationType.OPENAI, models: [] }]);
  for (const member of ["endpoint", "hasCredential", "credentialEndsWith"])
    expect(integrations[0]).not.toHaveProperty(member);
  const said = [made, integration, integrations, await stored(made.id)];
  expect(JSON.stringify(said, (_, value) => (typeof value === "bigint" ? "" : value))).not.toContain(KEY);
  expect(await opened(made.id)).toBe(KEY);
});

test("a credential is for one host: who changes that gives another or none", async () => {
  const { id } = await create("alice", { ...MODELS, sharing: [{ to: "user:bob", tier: Tier.CONFIG }] });
  const sealed = (await stored(id)).sealed;
  const about = { integrationId: id };
  for (const endpoint of [
    "https://evil.example.com/v1",
    "http://models.example.com/v1",
    "https://models.example.com:444/",
  ])
    expect(await refusal(update("bob", { ...about, endpoint }))).toEqual([
      "InvalidArgument",
      "the new endpoint has another host: give credential again, or set remove_credential",
    ]);
  expect((await update("bob", { ...about, endpoint: "https://models.example.com/v2" })).endpoint).toBe(
    "https://models.example.com/v2",
  );
  expect((await stored(id)).sealed).toBe(sealed);
  const other = { ...about, endpoint: "https://other.example.com" };
  expect(await update("bob", { ...other, credential: "another-credential-of-bob" })).toMatchObject({
    credentialEndsWith: "-bob",
  });
  expect(await opened(id)).toBe("another-credential-of-bob");
  expect(await update("bob", { ...about, removeCredential: true })).toMatchObject({ hasCredential: false });
  expect((await update("bob", { ...about, endpoint: "http://127.0.0.1:11434/v1" })).hasCredential).toBe(false);
  expect((await refusal(update("bob", { ...about, credential: "x", removeCredential: true })))[1]).toBe(
    "give either credential or remove_credential, not both",
  );
});

test("an endpoint is checked as where platforms are, and has no query", async () => {
  for (const [endpoint, words] of [
    ["models.example.com", "endpoint must be a URL that begins with"],
    ["https://key@models.example.com/", "endpoint must not contain a user name"],
    ["https://models.example.com/?key=x", "endpoint must not have a query"],
    ["http://169.254.169.254/", "leads to a closed address"],
  ] as const)
    expect((await refusal(create("alice", { ...MODELS, endpoint })))[1]).toContain(words);
});

test("it always has a model, and a credential that a header can carry", async () => {
  const { id } = await create("alice", MODELS);
  expect((await update("alice", { integrationId: id, addModels: ["tiny"], removeModels: ["large"] })).models).toEqual([
    "small",
    "tiny",
  ]);
  expect((await refusal(update("alice", { integrationId: id, removeModels: ["small", "tiny"] })))[1]).toContain(
    "at least one model",
  );
  expect((await refusal(create("alice", { ...MODELS, models: [] })))[0]).toBe("InvalidArgument");
  expect((await refusal(create("alice", { ...MODELS, credential: "a\nb" })))[1]).toBe(
    "credential must be printable ASCII without white space",
  );
  expect((await refusal(create("alice", { ...MODELS, type: IntegrationType.UNSPECIFIED })))[0]).toBe("InvalidArgument");
});
