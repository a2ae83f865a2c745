import { randomUUID } from "node:crypto";
import { Code } from "@connectrpc/connect";
import { exportJWK, generateKeyPair, importJWK, SignJWT } from "jose";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { CredentialService, VerifyCredentialRequestSchema } from "#proto/auth/v1/credential_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { openKeyRing } from "../../../../services/auth/key-ring.js";
import { createAssertionVerifier } from "../../../../services/shared/credentials/assertions.js";
import { type Credentials, createCredentials } from "../../../../services/shared/credentials/credentials.js";
import type { Known } from "../../../../services/shared/credentials/known.js";
import { silentLog } from "../../../../services/shared/process/log.js";
import type { Authenticated, Authenticator } from "../../../../services/shared/rpc/call.js";
import type { Dispatch } from "../../../../services/shared/rpc/dispatch.js";
import { unavailable } from "../../../../services/shared/rpc/errors.js";
import { SEAL, type Stack, startStack } from "../../auth/stack.js";

let stack: Stack;
let credentials: Credentials;
let verifier: Authenticator;
let asked: string[];
let gone: boolean;

beforeAll(async () => {
  stack = await startStack({ leaseMs: 1_500 });
});
afterAll(() => stack.close());
beforeEach(async () => {
  asked = [];
  gone = false;
  const credential = { authorization: `Bearer ${stack.secrets.serviceKey}` };
  const dispatch: Dispatch = {
    ...stack.dispatch,
    async unary(method, request, out) {
      asked.push(method.name);
      if (gone) throw unavailable("auth is gone");
      return stack.dispatch.unary(method, request, out);
    },
    async *duplex(method, requests, out) {
      if (gone) throw unavailable("auth is gone");
      for await (const reply of stack.dispatch.duplex(method, requests, out)) {
        if (gone) throw unavailable("auth is gone");
        yield reply;
      }
    },
  };
  credentials = createCredentials({ dispatch, credential, log: silentLog });
  verifier = createAssertionVerifier({ service: "traces", credentials, dispatch, credential });
  await vi.waitFor(() => expect(credentials.leased()).toBe(true), { interval: 5, timeout: 10_000 });
});
afterEach(async () => {
  await credentials.close();
});

const code = (expected: Code) => expect.objectContaining({ code: expected });
const present = async (credential: Parameters<Authenticator["authenticate"]>[0]): Promise<Authenticated> =>
  verifier.authenticate(credential);

async function newKey(): Promise<Known & { readonly id: string; readonly token: string }> {
  const { admin } = stack.secrets;
  const { user } = await stack.as(admin.apiKey, UserService.method.createUser, {
    email: `${randomUUID()}@example.org`,
    name: "Somebody",
  });
  const { key, token } = await stack.as(admin.apiKey, ApiKeyService.method.createApiKey, {
    name: "K",
    userId: user?.id as string,
  });
  const known = await credentials.verify(token);
  if ("refused" in known) throw new Error(known.refused);
  return { ...known, id: key?.id as string, token };
}

describe("an assertion", () => {
  test("tells its audience who is calling, and is verified once", async () => {
    const { assertions, caller } = await newKey();
    expect((await present({ assertion: assertions.traces as string })).caller).toEqual(caller);
    const again = verifier.authenticate({ assertion: assertions.traces as string });
    expect(again).not.toBeInstanceOf(Promise);
    expect(asked.filter((name) => name === "GetAssertionKeys")).toHaveLength(1);
  });

  test("for another service is refused", async () => {
    const { assertions } = await newKey();
    const other = present({ assertion: assertions.catalogue as string });
    await expect(other).rejects.toEqual(code(Code.Unauthenticated));
  });

  test("with the signature of one that was verified, and other claims, is refused", async () => {
    const [one, other] = [await newKey(), await newKey()];
    const partsOf = ({ assertions }: Known) => (assertions.traces as string).split(".");
    const [[header, , signature], [, claims]] = [partsOf(one), partsOf(other)];
    await present({ assertion: one.assertions.traces as string });
    for (let time = 0; time < 2; time++)
      await expect(present({ assertion: `${header}.${claims}.${signature}` })).rejects.toEqual(
        code(Code.Unauthenticated),
      );
    const known = verifier.authenticate({ assertion: one.assertions.traces as string });
    expect(known).toMatchObject({ caller: one.caller });
  });

  test("is refused once its key is revoked, and once its user is disabled", async () => {
    const { assertions, id } = await newKey();
    const other = await newKey();
    await present({ assertion: assertions.traces as string });
    await present({ assertion: other.assertions.traces as string });
    await stack.as(stack.secrets.admin.apiKey, ApiKeyService.method.revokeApiKey, { id });
    const dead = present({ assertion: assertions.traces as string });
    await expect(dead).rejects.toEqual(code(Code.Unauthenticated));
    await stack.as(stack.secrets.admin.apiKey, UserService.method.updateUser, { id: other.caller.id, disabled: true });
    const disabled = present({ assertion: other.assertions.traces as string });
    await expect(disabled).rejects.toEqual(code(Code.Unauthenticated));
  });

  test("minted before its user changed gives the caller as changed", async () => {
    const { assertions, caller } = await newKey();
    await stack.as(stack.secrets.admin.apiKey, UserService.method.updateUser, { id: caller.id, name: "Renamed" });
    expect((await present({ assertion: assertions.traces as string })).caller.name).toBe("Renamed");
  });

  test("is worth nothing without a lease while nobody can be asked", async () => {
    const { assertions } = await newKey();
    await present({ assertion: assertions.traces as string });
    gone = true;
    await vi.waitFor(() => expect(credentials.leased()).toBe(false), { interval: 10, timeout: 10_000 });
    const unsure = present({ assertion: assertions.traces as string });
    await expect(unsure).rejects.toEqual(code(Code.Unavailable));
  });

  async function signed(header: object, claims: object): Promise<string> {
    const record = (await stack.records.keyRings.findOne({ _id: "assertion" }))?.keys[0];
    const d = SEAL.open(record?.sealed as string, `signing_keys/${record?._id}`);
    const key = await importJWK({ ...record?.jwk, d } as never, "EdDSA");
    const good = {
      iss: "auth",
      aud: "traces",
      sub: "u",
      seq: Number.MAX_SAFE_INTEGER,
      key: "k",
      scope: "admin",
      grp: [],
    };
    const now = Math.floor(Date.now() / 1000);
    return new SignJWT({ ...good, iat: now, exp: now + 60, ...claims } as never)
      .setProtectedHeader({ alg: "EdDSA", typ: "caller+jwt", kid: record?._id as string, ...header })
      .sign(key);
  }

  test.each([
    ["another type", { typ: "JWT" }, {}],
    ["two audiences", {}, { aud: ["traces", "auth"] }],
    ["another issuer", {}, { iss: "somebody" }],
    ["an expiry in the past", {}, { exp: 1 }],
    ["no place in the order of events", {}, { seq: undefined }],
  ])("with %s is refused, and without that accepted", async (_, header, claims) => {
    expect((await present({ assertion: await signed({}, {}) })).caller.id).toBe("u");
    const bad = present({ assertion: await signed(header, claims) });
    await expect(bad).rejects.toEqual(code(Code.Unauthenticated));
  });

  test("signed by a key of somebody else is refused, and strangers' key ids are not asked about again and again", async () => {
    const { privateKey } = await generateKeyPair("EdDSA", { extractable: true });
    const { kty, crv, x } = await exportJWK(privateKey);
    for (let i = 0; i < 5; i++) {
      const assertion = await new SignJWT({ seq: 0, scope: "admin" })
        .setProtectedHeader({ alg: "EdDSA", typ: "caller+jwt", kid: `k${i}`, jwk: { kty, crv, x } as never })
        .setIssuer("auth")
        .setAudience("traces")
        .setSubject("u")
        .setIssuedAt()
        .setExpirationTime("1m")
        .sign(privateKey);
      await expect(present({ assertion })).rejects.toEqual(code(Code.Unauthenticated));
    }
    expect(asked.filter((name) => name === "GetAssertionKeys").length).toBeLessThanOrEqual(2);
  });
});

test("a key that signs at once is fetched once for all who come with it", async () => {
  await present({ assertion: (await newKey()).assertions.traces as string });
  const ring = await openKeyRing(stack.records, "assertion", {
    ...{ leadMs: 600_000, graceMs: 600_000, rotateMs: 1e9 },
    seal: SEAL,
  });
  // By another process, whose event is still on its way.
  await ring.revoke((await ring.signer()).kid);
  const many = await Promise.all(Array.from({ length: 20 }, newKey));
  asked = [];
  const callers = await Promise.all(many.map(({ assertions }) => present({ assertion: assertions.traces as string })));
  expect(callers.map(({ caller }) => caller)).toEqual(many.map(({ caller }) => caller));
  // A report of the last use may be on its way beside it.
  expect(asked.filter((name) => name === "GetAssertionKeys")).toHaveLength(1);
});

describe("an exchanged assertion", () => {
  async function exchange(subjectToken: string, audience: string) {
    return stack.as(stack.secrets.serviceKey, CredentialService.method.exchangeAssertion, { subjectToken, audience });
  }

  test("has the new audience, the same caller and never a later end", async () => {
    const { assertions, caller, expiresAt } = await newKey();
    const answer = await exchange(assertions.catalogue as string, "traces");
    const got = await present({ assertion: answer.assertion });
    expect({ ...got.caller, scopes: undefined }).toEqual({ ...caller, scopes: undefined });
    expect([...got.caller.scopes].filter((scope) => !caller.scopes.has(scope))).toEqual(["delegated"]);
    expect(Number(answer.expiresAt?.seconds) * 1000).toBe(expiresAt);
  });

  test("is given to nobody for a revoked key, an unknown audience or a forgery", async () => {
    const { assertions, id } = await newKey();
    await expect(exchange(assertions.traces as string, "mars")).rejects.toEqual(code(Code.InvalidArgument));
    await expect(exchange(`${assertions.traces}x`, "auth")).rejects.toEqual(code(Code.Unauthenticated));
    await stack.as(stack.secrets.admin.apiKey, ApiKeyService.method.revokeApiKey, { id });
    await expect(exchange(assertions.traces as string, "auth")).rejects.toEqual(code(Code.Unauthenticated));
  });
});

describe("an API key in authorization", () => {
  test("is verified for a service as for a façade, with an assertion for calling on", async () => {
    const { token, caller, assertions, id } = await newKey();
    const got = await present({ authorization: `Bearer ${token}` });
    expect(got).toEqual({ caller, assertion: assertions.traces, expiresAt: expect.any(Number) });
    await stack.as(stack.secrets.admin.apiKey, ApiKeyService.method.revokeApiKey, { id });
    await expect(present({ authorization: `Bearer ${token}` })).rejects.toEqual(code(Code.Unauthenticated));
  });

  test.each([
    ["nothing", {}],
    ["another scheme", { authorization: "Basic abc" }],
    ["no key", { authorization: "Bearer hello" }],
  ])("%s is refused", async (_, credential) => {
    await expect(present(credential)).rejects.toEqual(code(Code.Unauthenticated));
  });
});

test("a token in a request is never printed with the message", () => {
  const { fields } = VerifyCredentialRequestSchema;
  expect(fields.find(({ name }) => name === "token")?.proto.options?.debugRedact).toBe(true);
});
