import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { timestampDate, timestampMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { createLocalJWKSet, decodeProtectedHeader, importJWK, jwtVerify, SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { KeyRingService, SigningKeyState } from "#proto/auth/v1/key_ring_service_pb.js";
import { PlatformTokenService } from "#proto/auth/v1/platform_token_service_pb.js";
import { openKeyRing } from "../../../services/auth/key-ring.js";
import { createPlatformTokens } from "../../../services/auth/platform-tokens.js";
import { createAuthService } from "../../../services/auth/service.js";
import type { RingName } from "../../../services/auth/store.js";
import { silentLog } from "../../../services/shared/process/log.js";
import type { RpcServer } from "../../../services/shared/rpc/connect.js";
import { mountInProcess } from "../../../services/shared/rpc/in-process.js";
import { bundled } from "../../support/bundled.js";
import { SEAL, type Stack, serve, startStack } from "./stack.js";
import type { Order, Report } from "./verifier-process.js";

const rings = KeyRingService.method;
const MINUTE = 60_000;
const code = (expected: Code) => expect.objectContaining({ code: expected });

let stack: Stack;
let admin: string;
beforeEach(async () => {
  stack = await startStack({ leaseMs: 1_500 });
  admin = stack.secrets.admin.apiKey;
});
afterEach(() => stack.close());

const list = async (ring = "") => (await stack.as(admin, rings.listSigningKeys, { ring })).keys;
const signingKid = async (ring: RingName) =>
  (await list(ring)).find(({ state }) => state === SigningKeyState.SIGNING)?.kid as string;
const revoke = (ring: RingName, kid: string) => stack.as(admin, rings.revokeSigningKey, { ring, kid });

/** An assertion that nobody but who has the private half of a ring's key could sign. */
async function forged(kid: string): Promise<string> {
  const found = await stack.records.keyRings.findOne({ _id: "assertion" });
  const record = found?.keys.find(({ _id }) => _id === kid);
  const d = SEAL.open(record?.sealed as string, `signing_keys/${kid}`);
  const claims = { seq: Number.MAX_SAFE_INTEGER, key: "k", scope: "admin", grp: [], email: "admin@example.org" };
  return new SignJWT(claims)
    .setProtectedHeader({ alg: "EdDSA", typ: "caller+jwt", kid })
    .setIssuer("auth")
    .setAudience("traces")
    .setSubject("admin")
    .setIssuedAt()
    .setExpirationTime("5m")
    .sign(await importJWK({ ...record?.jwk, d } as never, "EdDSA"));
}

describe("the keys of the rings", () => {
  test("are listed without a half, by administrators only", async () => {
    const keys = await list();
    expect(keys.map(({ ring, state }) => [ring, state])).toEqual(
      ["access", "assertion", "platform"].map((ring) => [ring, SigningKeyState.SIGNING]),
    );
    const fields = Object.keys(keys[0] as object).filter((name) => !name.startsWith("$"));
    expect(fields.toSorted()).toEqual(["createdAt", "kid", "ring", "signsFrom", "state"]);
    const asked = stack.as(stack.secrets.analyst.apiKey, rings.listSigningKeys, {});
    await expect(asked).rejects.toEqual(code(Code.PermissionDenied));
    await expect(list("master")).rejects.toEqual(code(Code.InvalidArgument));
  });

  test.each([
    ["access", 10, 20],
    ["assertion", 10, 10],
    ["platform", 120, 120],
  ] as const)(
    "of %s are rotated: the new one signs in %i minutes, the old one goes %i later",
    async (ring, lead, grace) => {
      const begun = Date.now();
      const old = await signingKid(ring);
      const { key, previous } = await stack.as(admin, rings.rotateKeyRing, { ring });
      expect(timestampMs(key!.signsFrom!) - begun).toBeGreaterThanOrEqual(lead * MINUTE);
      expect(timestampMs(key!.signsFrom!) - begun).toBeLessThan(lead * MINUTE + 5_000);
      expect(previous).toMatchObject({ kid: old, state: SigningKeyState.SIGNING });
      expect(timestampMs(previous!.removedAt!) - timestampMs(key!.signsFrom!)).toBe(grace * MINUTE);
      expect(await list(ring)).toEqual([key, previous]);
      const again = stack.as(admin, rings.rotateKeyRing, { ring });
      await expect(again).rejects.toEqual(code(Code.FailedPrecondition));
      await expect(again).rejects.toThrow(timestampDate(key!.signsFrom!).toISOString());
      expect(await signingKid(ring)).toBe(old);
    },
  );

  test("that no ring has are not revoked", async () => {
    await expect(revoke("assertion", await signingKid("platform"))).rejects.toEqual(code(Code.NotFound));
  });
});

describe("a revoked platform key", () => {
  test("is not published any more, and the answer says what platforms still accept", async () => {
    const issuer = () => stack.as(admin, PlatformTokenService.method.getPlatformIssuer, {});
    const kid = await signingKid("platform");
    expect((await issuer()).jwks).toContain(kid);
    const { signing, consequences } = await revoke("platform", kid);
    expect(signing?.kid).not.toBe(kid);
    expect(JSON.parse((await issuer()).jwks).keys).toMatchObject([{ kid: signing?.kid }]);
    expect(consequences).toMatch(/one hour/);
  });

  test("signed no token that is given again", async () => {
    const options = { leadMs: 1, graceMs: 1, rotateMs: MINUTE * 60, seal: SEAL };
    const ring = await openKeyRing(stack.records, "platform", options);
    const tokens = createPlatformTokens(ring, "https://sallyport.example");
    const subject = { userId: "u", email: "u@example.org", audience: "https://cti.example" };
    const before = await tokens.mint(subject, false);
    expect(await tokens.mint(subject, false)).toEqual(before);
    await revoke("platform", decodeProtectedHeader(before.token).kid as string);
    const after = await tokens.mint(subject, false);
    await jwtVerify(after.token, createLocalJWKSet((await ring.jwks()) as never));
  });
});

test("another auth process on the store signs and accepts at once by what one has revoked", async () => {
  const options = { baseUrl: "https://sallyport.example/", log: silentLog, fenceMs: 0 };
  const older = stack.service;
  const { assertions } = await minted();
  const kid = decodeProtectedHeader(assertions.auth as string).kid as string;
  const newer = await createAuthService({ store: stack.store, seal: SEAL, ...options });
  try {
    const dispatch = mountInProcess(newer.methods, { authenticator: newer.authenticator, log: silentLog });
    const asAdmin = { credential: { authorization: `Bearer ${admin}` } };
    await older.authenticator.authenticate({ assertion: assertions.auth as string });
    await dispatch.unary(rings.revokeSigningKey, { ring: "assertion", kid }, asAdmin);
    const refused = (async () => older.authenticator.authenticate({ assertion: assertions.auth as string }))();
    await expect(refused).rejects.toEqual(code(Code.Unauthenticated));
    const { jwks } = await stack.as(admin, CredentialService.method.getAssertionKeys, {});
    expect(jwks).not.toContain(kid);
    const next = (await minted()).assertions.auth as string;
    expect(decodeProtectedHeader(next).kid).not.toBe(kid);
    await newer.authenticator.authenticate({ assertion: next });
    const { key } = await stack.as(admin, rings.rotateKeyRing, { ring: "assertion" });
    const { keys } = await dispatch.unary(rings.listSigningKeys, {}, asAdmin);
    expect(keys.map(({ kid }) => kid)).toContain(key?.kid);
  } finally {
    await newer.close();
  }
});

async function minted() {
  const request = { token: stack.secrets.analyst.apiKey };
  const { outcome } = await stack.as(stack.secrets.serviceKey, CredentialService.method.verifyCredential, request);
  if (outcome.case !== "verified") throw new Error(outcome.case);
  return outcome.value;
}

describe("a process that verifies assertions elsewhere", () => {
  let server: RpcServer;
  let child: ChildProcess;
  beforeEach(async () => {
    server = await serve(stack);
    const script = await bundled(new URL("./verifier-process.ts", import.meta.url));
    child = fork(script, [`http://127.0.0.1:${server.port}`, stack.secrets.serviceKey], { execArgv: [] });
    await reports(({ leased }) => leased);
  });
  afterEach(async () => {
    child.kill("SIGKILL");
    await server.close(0);
  });

  async function tell(order: Order | null): Promise<Report> {
    const answer = once(child, "message");
    child.send(order as never);
    return (await answer)[0] as Report;
  }
  async function reports(condition: (report: Report) => boolean): Promise<Report> {
    let report: Report | undefined;
    await vi.waitFor(
      async () => {
        report = await tell(null);
        if (!condition(report)) throw new Error(JSON.stringify(report));
      },
      { timeout: 20_000, interval: 10 },
    );
    return report as Report;
  }

  test("accepts no forgery by a revoked key from the moment that the call returns, and serves everybody else", async () => {
    for (let round = 0; round < 3; round++) {
      const kid = await signingKid("assertion");
      await tell({ assertion: await forged(kid), apiKey: stack.secrets.analyst.apiKey });
      await reports(({ accepted, served }) => accepted > 20 && served > 20);
      const answer = await revoke("assertion", kid);
      const returned = process.hrtime.bigint();
      expect(answer).toMatchObject({ acknowledged: 1, expired: 0 });
      const { refusal, killed, served } = await reports((report) => report.refusal !== "");
      expect(refusal).toMatch(/not valid for this service/);
      expect(killed).toBe(true);
      const later = await reports((report) => report.served > served + 50);
      expect(BigInt(later.lastAcceptedBegan)).toBeLessThan(returned);
      // Who is good may be told to try again while the call is under way, and is never called bad for longer.
      expect(later.failures.length).toBeLessThan(5);
      expect((await reports((report) => report.served > later.served + 50)).failures).toEqual(later.failures);
    }
  });

  test("that does not acknowledge is waited for until its lease has run out", async () => {
    const kid = await signingKid("assertion");
    await tell({ assertion: await forged(kid) });
    await reports(({ accepted }) => accepted > 20);
    child.kill("SIGSTOP");
    const begun = performance.now();
    expect(await revoke("assertion", kid)).toMatchObject({ acknowledged: 0, expired: 1 });
    expect(performance.now() - begun).toBeGreaterThan(500);
    const returned = process.hrtime.bigint();
    child.kill("SIGCONT");
    const { lastAcceptedBegan } = await reports((report) => report.refusal !== "");
    expect(BigInt(lastAcceptedBegan)).toBeLessThan(returned);
  });
});
