import { timestampMs } from "@bufbuild/protobuf/wkt";
import { decodeJwt } from "jose";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { DelegationService } from "#proto/auth/v1/delegation_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { renewKeys } from "../../../services/auth/renew-keys.js";
import { createKeyFormat, DEFAULT_KEY_PREFIX } from "../../../services/shared/credentials/format.js";
import { type Stack, startStack } from "./stack.js";

// What work that goes on without its caller acts with: never more than the caller
// held, and nothing once the key or the user is no longer good.

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

const { createDelegation, exchangeDelegation, endDelegation } = DelegationService.method;
let people = 0;

async function newPerson(scopes: string[] = []) {
  const { apiKey } = stack.secrets.admin;
  const email = `person${people++}@example.org`;
  const { user } = await stack.as(apiKey, UserService.method.createUser, { email, name: email });
  const made = await stack.as(apiKey, ApiKeyService.method.createApiKey, { userEmail: email, name: "key", scopes });
  const { outcome } = await stack.as(stack.secrets.serviceKey, CredentialService.method.verifyCredential, {
    token: made.token,
  });
  if (outcome.case !== "verified") throw new Error("refused");
  return { id: user!.id, keyId: made.key!.id, assertion: outcome.value.assertions["core-objects"]! };
}

const delegate = async (subjectToken: string, more: object = {}): Promise<string> =>
  (await stack.as(stack.secrets.serviceKey, createDelegation, { subjectToken, ...more })).delegation;
const exchange = (delegation: string) =>
  stack.as(stack.secrets.serviceKey, exchangeDelegation, { delegation, audience: "core-objects" });
const refused = (delegation: string) =>
  exchange(delegation).then(
    () => "taken",
    (error: { rawMessage: string }) => error.rawMessage,
  );
const asAdmin = <T>(method: T, request: Record<string, unknown>) =>
  stack.as(stack.secrets.admin.apiKey, method as never, request);

test("it gives an assertion of the caller with the caller's scopes, and the next service is told who it is", async () => {
  const person = await newPerson(["core:read", "cti:read"]);
  const given = await exchange(await delegate(person.assertion));
  expect(given.caller).toMatchObject({ id: person.id, keyId: person.keyId, admin: false });
  expect(given.caller?.scopes.toSorted()).toEqual(["account", "core:read", "cti:read", "public"]);
  expect(timestampMs(given.expiresAt!) - Date.now()).toBeLessThanOrEqual(300_000);
  const next = await stack.as(stack.secrets.serviceKey, CredentialService.method.exchangeAssertion, {
    subjectToken: given.assertion,
    audience: "traces",
  });
  expect(decodeJwt(next.assertion)).toMatchObject({ aud: "traces", sub: person.id, key: person.keyId });
});

test("a revoked key ends it; one that outlives its key ends with its user", async () => {
  const person = await newPerson(["core:read"]);
  const [withKey, without] = [await delegate(person.assertion), await delegate(person.assertion, { withoutKey: true })];
  await asAdmin(ApiKeyService.method.revokeApiKey, { id: person.keyId });
  expect(await refused(withKey)).toContain("the API key was revoked");
  const { caller, assertion } = await exchange(without);
  expect(caller).toMatchObject({ id: person.id, keyId: "" });
  expect(caller?.scopes).not.toContain("core:write");
  const next = { subjectToken: assertion, audience: "platform-proxy" };
  await stack.as(stack.secrets.serviceKey, CredentialService.method.exchangeAssertion, next);
  await asAdmin(UserService.method.updateUser, { id: person.id, disabled: true });
  expect(await refused(without)).toContain("is disabled");
  await expect(
    stack.as(stack.secrets.serviceKey, CredentialService.method.exchangeAssertion, next),
  ).rejects.toMatchObject({ rawMessage: expect.stringContaining("is disabled") });
});

test("a schedule ends with the key that set it, whose revocation names it; one that was rotated goes on", async () => {
  const person = await newPerson(["core:read"]);
  const revoke = (which: { id: string }) =>
    stack.as(stack.secrets.admin.apiKey, ApiKeyService.method.revokeApiKey, which);
  const save = (scheduleId: string) =>
    delegate(person.assertion, { withoutKey: true, scheduleId, scheduleName: `The ${scheduleId}` });
  const [early, late] = [await save("morning"), await save("evening")];
  const rotated = await stack.as(stack.secrets.admin.apiKey, ApiKeyService.method.rotateApiKey, {
    id: person.keyId,
    overlapSeconds: 0,
  });
  expect((await exchange(early)).key).toEqual(expect.objectContaining({ id: rotated.key!.id, name: "key" }));
  expect((await revoke({ id: person.keyId })).schedules).toEqual([]);
  expect(await refused(late)).toBe("taken");
  const answer = await revoke({ id: rotated.key!.id });
  expect(answer.schedules.map((one: { id: string; name: string }) => [one.id, one.name]).sort()).toEqual([
    ["evening", ""],
    ["morning", ""],
  ]);
  for (const one of [early, late]) expect(await refused(one)).toContain("which set this schedule, was revoked");
});

test("a user who revokes a key reads the names of its schedules, and only of those that it was the last to set", async () => {
  const { apiKey } = stack.secrets.analyst;
  const verified = async (token: string) => {
    const { outcome } = await stack.as(stack.secrets.serviceKey, CredentialService.method.verifyCredential, { token });
    return outcome.case === "verified" ? outcome.value.assertions["core-objects"]! : "";
  };
  const made = await stack.as(apiKey, ApiKeyService.method.createApiKey, { name: "laptop" });
  const [mine, laptop] = [await verified(apiKey), await verified(made.token)];
  const save = (subjectToken: string, scheduleId: string) =>
    delegate(subjectToken, { withoutKey: true, scheduleId, scheduleName: `The ${scheduleId}` });
  await save(laptop, "moved");
  await save(laptop, "kept");
  const moved = await save(mine, "moved");
  const answer = await stack.as(apiKey, ApiKeyService.method.revokeApiKey, { id: made.key!.id });
  expect(answer.schedules).toMatchObject([{ id: "kept", name: "The kept" }]);
  expect(await refused(moved)).toBe("taken");
});

test("of many saves of a schedule the latest are kept, and a run sets none", async () => {
  const person = await newPerson();
  let last = "";
  for (let n = 0; n < 20; n++)
    last = await delegate(person.assertion, { withoutKey: true, scheduleId: "busy", scheduleName: "Busy" });
  expect(await stack.records.delegations.countDocuments({ schedule_id: "busy" })).toBe(16);
  const { assertion } = await stack.as(stack.secrets.serviceKey, exchangeDelegation, {
    ...{ delegation: last, audience: "core-objects", run: "run-1" },
  });
  expect(decodeJwt(assertion)).toMatchObject({ run: "run-1" });
  await expect(delegate(assertion)).rejects.toMatchObject({
    rawMessage: expect.stringContaining("a run cannot start"),
  });
  const next = { subjectToken: assertion, audience: "traces" };
  const on = await stack.as(stack.secrets.serviceKey, CredentialService.method.exchangeAssertion, next);
  expect(decodeJwt(on.assertion)).toMatchObject({ run: "run-1", aud: "traces" });
});

test("it is given for who is present alone, by our own services alone, and ends when it is ended", async () => {
  const person = await newPerson();
  await expect(delegate("not.an.assertion")).rejects.toMatchObject({ code: 16 });
  await expect(asAdmin(createDelegation, { subjectToken: person.assertion })).rejects.toMatchObject({ code: 7 });
  const delegation = await delegate(person.assertion, { ttlSeconds: 60 });
  const records = await stack.records.delegations.find({}).toArray();
  expect(JSON.stringify(records)).not.toContain(delegation);
  await stack.as(stack.secrets.serviceKey, endDelegation, { delegation });
  expect(await refused(delegation)).toContain("has ended");
  expect(await refused("another")).toContain("has ended");
});

test("where all keys are revoked none is left, of schedules neither", async () => {
  const delegation = await delegate((await newPerson()).assertion, { withoutKey: true });
  await exchange(delegation);
  await renewKeys(stack.records, createKeyFormat(DEFAULT_KEY_PREFIX), []);
  expect(await stack.records.delegations.countDocuments({})).toBe(0);
});
