import type { MessageInitShape } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { PlatformTokenService } from "#proto/auth/v1/platform_token_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { type GetPlatformTargetResponseSchema, SettingService } from "#proto/catalogue/v1/setting_service_pb.js";
import type { Chain } from "../../../services/shared/rpc/chain.js";
import type { Dispatch } from "../../../services/shared/rpc/dispatch.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import { unary } from "../../../services/shared/rpc/method.js";
import { createPeers, type Peers } from "../../../services/shared/rpc/peers.js";
import { type Stack, startStack } from "./stack.js";

const { mintPlatformToken, getPlatformIssuer } = PlatformTokenService.method;
let stack: Stack;
let peers: Peers | undefined;
let target: MessageInitShape<typeof GetPlatformTargetResponseSchema>;

/** Everything auth answers itself, and from the catalogue the target of this test. */
function withCatalogue(steps: Chain): Dispatch {
  const catalogue = mountInProcess([unary(SettingService.method.getPlatformTarget, () => target)], steps);
  return {
    ...stack.dispatch,
    unary: (method, request, out) =>
      (method.parent.typeName.startsWith("catalogue.") ? catalogue : stack.dispatch).unary(method, request, out),
  };
}

beforeAll(async () => {
  stack = await startStack({ peersOf: () => peers });
  peers = createPeers(withCatalogue(stack.steps), { authorization: `Bearer ${stack.secrets.serviceKey}` });
});
afterAll(() => stack.close());
beforeEach(() => {
  target = { registered: true, publicUrl: "https://cti.example/", auth: "bearer" };
});

const code = (expected: Code) => expect.objectContaining({ code: expected });

/** Asks as a service does that calls on for the holder of a key. */
async function mint(
  apiKey: string,
  request: { readonly server: string; readonly fresh?: boolean; readonly audience?: string },
) {
  const { outcome } = await stack.as(stack.secrets.serviceKey, CredentialService.method.verifyCredential, {
    token: apiKey,
  });
  if (outcome.case !== "verified") throw new Error("refused");
  const assertion = outcome.value.assertions["platform-proxy"] as string;
  const { caller } = await stack.service.authenticator.authenticate({ authorization: `Bearer ${apiKey}` });
  const call = { credential: { assertion }, signal: new AbortController().signal, caller, assertion };
  // What the catalogue says of the platform, unless the test says that the caller knows another address.
  const audience = target.auth === "exchange" ? target.clientId : target.publicUrl?.replace(/\/$/, "");
  return (peers as Peers).call(mintPlatformToken, { audience: audience ?? "https://cti.example", ...request }, call);
}

describe("a platform token", () => {
  test("is what the platforms expect, to the letter", async () => {
    const { token, expiresAt } = await mint(stack.secrets.analyst.apiKey, { server: "cti" });
    const { issuer, jwks } = await stack.as("", getPlatformIssuer, {});
    expect(issuer).toBe("https://sallyport.example");
    const { payload } = await jwtVerify(token, createLocalJWKSet(JSON.parse(jwks)), { algorithms: ["EdDSA"] });
    expect(decodeProtectedHeader(token)).toEqual({ alg: "EdDSA", typ: "JWT", kid: expect.any(String) });
    expect(Object.keys(payload).toSorted()).toEqual(["aud", "email", "exp", "iat", "iss", "jti", "sub"]);
    expect(payload).toMatchObject({ iss: issuer, aud: "https://cti.example", email: "analyst@example.org" });
    const { iat = 0, exp = 0 } = payload;
    expect(exp - iat).toBeLessThanOrEqual(120);
    expect(Date.now() / 1000 - iat).toBeGreaterThanOrEqual(4.9);
    expect(Number(expiresAt?.seconds)).toBe(exp);
  });

  test("is kept for a minute for one user and platform, unless a fresh one is asked for", async () => {
    const { analyst, admin } = stack.secrets;
    const first = await mint(analyst.apiKey, { server: "cti" });
    expect((await mint(analyst.apiKey, { server: "cti" })).token).toBe(first.token);
    expect((await mint(admin.apiKey, { server: "cti" })).token).not.toBe(first.token);
    const fresh = await mint(analyst.apiKey, { server: "cti", fresh: true });
    expect(decodeJwt(fresh.token).jti).not.toBe(decodeJwt(first.token).jti);
    target = { registered: true, publicUrl: "https://moved.example", auth: "bearer" };
    expect(decodeJwt((await mint(analyst.apiKey, { server: "cti" })).token).aud).toBe("https://moved.example");
  });

  test("names the client id where the platform exchanges it", async () => {
    target = { registered: true, publicUrl: "https://grc.example", auth: "exchange", clientId: "sallyport" };
    expect(decodeJwt((await mint(stack.secrets.analyst.apiKey, { server: "grc" })).token).aud).toBe("sallyport");
  });
});

test("nothing else that auth signs is a login at a platform", async () => {
  const { jwks } = await stack.as("", getPlatformIssuer, {});
  const { outcome } = await stack.as(stack.secrets.serviceKey, CredentialService.method.verifyCredential, {
    token: stack.secrets.admin.apiKey,
  });
  const { assertions } = outcome.value as { assertions: Record<string, string> };
  for (const assertion of Object.values(assertions)) {
    await expect(jwtVerify(assertion, createLocalJWKSet(JSON.parse(jwks)))).rejects.toThrow(/no applicable key/);
  }
  const { token } = await mint(stack.secrets.admin.apiKey, { server: "cti" });
  const presented = stack.dispatch.unary(ApiKeyService.method.whoAmI, {}, { credential: { assertion: token } });
  await expect(presented).rejects.toEqual(code(Code.Unauthenticated));
});

describe("no platform token is given", () => {
  test("to a client, whatever its key: only to a service that calls on", async () => {
    for (const key of [stack.secrets.analyst.apiKey, stack.secrets.admin.apiKey, stack.secrets.serviceKey]) {
      await expect(stack.as(key, mintPlatformToken, { server: "cti", audience: "a" })).rejects.toEqual(
        code(Code.PermissionDenied),
      );
    }
    const { outcome } = await stack.as(stack.secrets.serviceKey, CredentialService.method.verifyCredential, {
      token: stack.secrets.admin.apiKey,
    });
    const assertion = (outcome.value as { assertions: Record<string, string> }).assertions.auth as string;
    const direct = stack.dispatch.unary(
      mintPlatformToken,
      { server: "cti", audience: "a" },
      { credential: { assertion } },
    );
    await expect(direct).rejects.toEqual(code(Code.PermissionDenied));
  });

  test("for an address that the platform has left", async () => {
    target = { registered: true, publicUrl: "https://moved.example", auth: "bearer" };
    const minted = mint(stack.secrets.analyst.apiKey, { server: "cti", audience: "https://cti.example" });
    await expect(minted).rejects.toEqual(code(Code.Aborted));
  });

  test("for a platform that is not registered", async () => {
    target = { registered: false };
    const minted = mint(stack.secrets.analyst.apiKey, { server: "aev" });
    await expect(minted).rejects.toEqual(code(Code.FailedPrecondition));
  });

  test("for an address that is not verified", async () => {
    const { user } = await stack.as(stack.secrets.admin.apiKey, UserService.method.createUser, {
      email: "unverified@example.org",
      name: "U",
      emailVerified: false,
    });
    const { token } = await stack.as(stack.secrets.admin.apiKey, ApiKeyService.method.createApiKey, {
      name: "K",
      userId: user?.id as string,
    });
    await expect(mint(token, { server: "cti" })).rejects.toEqual(code(Code.FailedPrecondition));
  });

  test("for a server that the key is not for", async () => {
    const { token } = await stack.as(stack.secrets.analyst.apiKey, ApiKeyService.method.createApiKey, {
      name: "Narrow",
      scopes: ["cti:read"],
    });
    await mint(token, { server: "cti" });
    await expect(mint(token, { server: "aev" })).rejects.toEqual(code(Code.PermissionDenied));
  });
});
