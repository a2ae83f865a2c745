import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { PlatformTokenService } from "#proto/auth/v1/platform_token_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import { options } from "../../../services/launcher/config.js";
import { readConfig } from "../../../services/shared/process/config.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import { unary } from "../../../services/shared/rpc/method.js";
import { createPeers, type Peers } from "../../../services/shared/rpc/peers.js";
import { type Stack, startStack } from "./stack.js";

let stack: Stack;
let peers: Peers;
beforeAll(async () => {
  stack = await startStack({ peersOf: () => peers, emailDomains: ["corp.example"] });
  const target = () => ({ registered: true, publicUrl: "https://cti.example", auth: "bearer" });
  const catalogue = mountInProcess([unary(SettingService.method.getPlatformTarget, target)], stack.steps);
  const dispatch: typeof stack.dispatch = {
    ...stack.dispatch,
    unary: (method, request, out) =>
      (method.parent.typeName.startsWith("catalogue.") ? catalogue : stack.dispatch).unary(method, request, out),
  };
  peers = createPeers(dispatch, { authorization: `Bearer ${stack.secrets.serviceKey}` });
});
afterAll(() => stack.close());

const create = (email: string) =>
  stack.as(stack.secrets.admin.apiKey, UserService.method.createUser, { email, name: "One" });

/** Asks for a platform token as a service does that calls on for the holder of a key. */
async function mint(apiKey: string) {
  const { outcome } = await stack.as(stack.secrets.serviceKey, CredentialService.method.verifyCredential, {
    token: apiKey,
  });
  if (outcome.case !== "verified") throw new Error("refused");
  const assertion = outcome.value.assertions["platform-proxy"] as string;
  const { caller } = await stack.service.authenticator.authenticate({ authorization: `Bearer ${apiKey}` });
  const call = { credential: { assertion }, signal: new AbortController().signal, caller, assertion };
  return peers.call(
    PlatformTokenService.method.mintPlatformToken,
    { server: "cti", audience: "https://cti.example" },
    call,
  );
}

test("an administrator makes users of the allowed domains only", async () => {
  expect((await create("Ana@Corp.Example")).user?.email).toBe("ana@corp.example");
  for (const email of ["ceo@bank.example", "a@sub.corp.example", "a@corp.example.evil.example", "a@notcorp.example"]) {
    await expect(create(email)).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: "email: the domain must be one of EMAIL_DOMAINS: corp.example",
    });
  }
});

test("who was a user of another domain before acts on no platform", async () => {
  await expect(mint(stack.secrets.analyst.apiKey)).rejects.toMatchObject({ code: Code.PermissionDenied });
  await create("bo@corp.example");
  const made = await stack.as(stack.secrets.admin.apiKey, ApiKeyService.method.createApiKey, {
    name: "one",
    userEmail: "bo@corp.example",
  });
  expect((await mint(made.token)).token).not.toBe("");
});

test("domains are read in any case and writing", () => {
  expect(readConfig(options, [], { EMAIL_DOMAINS: "Example.ORG, bücher.example" }).emailDomains).toEqual([
    "example.org",
    "xn--bcher-kva.example",
  ]);
  expect(readConfig(options, [], {}).emailDomains).toBeUndefined();
  for (const wrong of ["@example.org", "example", "*.example.org", ","]) {
    expect(() => readConfig(options, [], { EMAIL_DOMAINS: wrong })).toThrow("must be domains such as example.org");
  }
});
