import { createHash } from "node:crypto";
import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { hash } from "bcrypt";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { CredentialService } from "#proto/auth/v1/credential_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { WatchService } from "#proto/auth/v1/watch_service_pb.js";
import { createKeyFormat } from "../../../services/shared/credentials/format.js";
import { createOutbox } from "../../../services/shared/credentials/outbox.js";
import { type Stack, startStack } from "./stack.js";

const keys = ApiKeyService.method;
let stack: Stack;
let admin: string;
let analyst: string;
beforeAll(async () => {
  stack = await startStack();
  admin = stack.secrets.admin.apiKey;
  analyst = stack.secrets.analyst.apiKey;
});
afterAll(() => stack.close());

const code = (expected: Code) => expect.objectContaining({ code: expected });

describe("creating", () => {
  test("a key shows its token once and keeps nothing that gives it back", async () => {
    const { key, token } = await stack.as(analyst, keys.createApiKey, { name: "Desktop" });
    const at = await stack.records.keys.findOne({ _id: key?.id as string });
    const secret = createKeyFormat("slp_").parse(token)?.secret as string;
    expect(at?.hash).toMatch(/^\$2b\$08\$/);
    expect(JSON.stringify(at)).not.toContain(secret);
    const { keys: listed } = await stack.as(analyst, keys.listApiKeys, {});
    expect(JSON.stringify(listed.map(({ id, name }) => ({ id, name })))).not.toContain(secret);
    expect(await stack.refusalOf(token)).toBeUndefined();
  });

  test("a name that is taken gets a number", async () => {
    await stack.as(analyst, keys.createApiKey, { name: "Editor" });
    const { key } = await stack.as(analyst, keys.createApiKey, { name: "Editor" });
    expect(key?.name).toBe("Editor (2)");
  });

  test("for somebody else is for administrators, by id or by address in any case", async () => {
    const other = { name: "For another", userEmail: "ADMIN@example.org" };
    await expect(stack.as(analyst, keys.createApiKey, other)).rejects.toEqual(code(Code.PermissionDenied));
    const { key } = await stack.as(admin, keys.createApiKey, { name: "Given", userEmail: "Analyst@Example.ORG" });
    expect(key?.userEmail).toBe("analyst@example.org");
  });

  test("the last moment that a timestamp can hold is not rounded up to one that it cannot", async () => {
    const last = { seconds: 253_402_300_799n, nanos: 999_999_999 };
    const { key } = await stack.as(analyst, keys.createApiKey, { name: "For good", expiresAt: last });
    expect(key?.expiresAt).toMatchObject({ seconds: last.seconds, nanos: 999_000_000 });
    const { key: changed } = await stack.as(analyst, keys.updateApiKey, { id: key!.id, expiresAt: last });
    expect(changed?.expiresAt?.seconds).toBe(last.seconds);
  });

  test("an expiry in the past is refused, and one that passes ends the key", async () => {
    const past = { name: "Old", expiresAt: timestampFromMs(Date.now() - 1) };
    await expect(stack.as(analyst, keys.createApiKey, past)).rejects.toEqual(code(Code.InvalidArgument));
    const { key, token } = await stack.as(analyst, keys.createApiKey, {
      name: "Short",
      expiresAt: timestampFromMs(Date.now() + 60_000),
    });
    expect(await stack.refusalOf(token)).toBeUndefined();
    await stack.records.keys.updateOne({ _id: key?.id as string }, { $set: { expires_at: new Date(Date.now() - 1) } });
    expect(await stack.refusalOf(token)).toBe("expired");
  });
});

describe("narrowing", () => {
  test("a key narrowed to scopes holds those, and neither more nor the administrator", async () => {
    const { token } = await stack.as(admin, keys.createApiKey, { name: "Narrow", scopes: ["cti:read"] });
    const { caller } = await stack.as(token, keys.whoAmI, {});
    expect(caller?.scopes.toSorted()).toEqual(["account", "cti:read", "public"]);
    expect(caller?.admin).toBe(false);
    await expect(stack.as(token, UserService.method.listUsers, {})).rejects.toEqual(code(Code.PermissionDenied));
  });

  test("a narrowed key cannot make itself a wider one", async () => {
    const { token } = await stack.as(admin, keys.createApiKey, { name: "Narrow", scopes: ["cti:read"] });
    const wider = { name: "Wider", scopes: ["grc:write"] };
    await expect(stack.as(token, keys.createApiKey, wider)).rejects.toEqual(code(Code.PermissionDenied));
    await expect(stack.as(token, keys.createApiKey, { name: "Same" })).rejects.toEqual(code(Code.PermissionDenied));
  });

  test("a narrowed key with the scope account makes keys as narrow as itself", async () => {
    const { token } = await stack.as(admin, keys.createApiKey, { name: "Narrow", scopes: ["account", "cti:read"] });
    const { key } = await stack.as(token, keys.createApiKey, { name: "Same" });
    expect(key?.scopes.toSorted()).toEqual(["account", "cti:read"]);
  });

  test("a narrowed key ends itself, and no other", async () => {
    const { key: other } = await stack.as(admin, keys.createApiKey, { name: "Other" });
    const { token, key } = await stack.as(admin, keys.createApiKey, { name: "Narrow", scopes: ["cti:read"] });
    const { revokeApiKey } = keys;
    await expect(stack.as(token, revokeApiKey, { id: other?.id as string })).rejects.toEqual(
      code(Code.PermissionDenied),
    );
    await stack.as(token, revokeApiKey, { id: key?.id as string });
    await expect(stack.as(token, keys.whoAmI, {})).rejects.toEqual(code(Code.Unauthenticated));
  });

  test("a key that ends makes none that outlives it", async () => {
    const end = timestampFromMs(Math.floor(Date.now() / 1000) * 1000 + 60_000);
    const { token } = await stack.as(admin, keys.createApiKey, { name: "Short", expiresAt: end });
    const { key } = await stack.as(token, keys.createApiKey, { name: "For ever" });
    expect(key?.expiresAt && timestampMs(key.expiresAt)).toBe(timestampMs(end));
  });

  test("a scope that the user does not hold is refused by name", async () => {
    await expect(stack.as(analyst, keys.createApiKey, { name: "Up", scopes: ["admin"] })).rejects.toThrow(/"admin"/);
  });
});

describe("verifying", () => {
  test("a wrong secret for a known id is refused without a bcrypt, and the owner is not locked out", async () => {
    const { keyId } = createKeyFormat("slp_").parse(analyst) as { keyId: string };
    const begun = performance.now();
    for (let i = 0; i < 200; i++) expect(await stack.refusalOf(forged(keyId))).toBe("unknown");
    expect(performance.now() - begun).toBeLessThan(200 * 20);
    expect(await stack.refusalOf(analyst)).toBeUndefined();
  });

  test("a check value met by chance costs at most five bcrypts before it is throttled", async () => {
    const { token, key } = await stack.as(analyst, keys.createApiKey, { name: "Unlucky" });
    const secret = createKeyFormat("slp_").parse(token)?.secret as string;
    const check = createHash("sha256").update(secret).digest("hex").slice(0, 8);
    await stack.records.keys.updateOne({ _id: key?.id as string }, { $set: { hash: await hash("another", 4), check } });
    const reasons: (string | undefined)[] = [];
    for (let i = 0; i < 7; i++) reasons.push(await stack.refusalOf(token));
    expect(reasons).toEqual([...Array(5).fill("unknown"), "throttled", "throttled"]);
  });

  test("what is no key is malformed, and a well-formed stranger unknown", async () => {
    expect(await stack.refusalOf("hello")).toBe("malformed");
    expect(await stack.refusalOf(createKeyFormat("slp_").mint().token)).toBe("unknown");
  });

  test("a caller without the scope internal cannot verify anybody", async () => {
    const verify = stack.as(admin, CredentialService.method.verifyCredential, { token: analyst });
    await expect(verify).rejects.toEqual(code(Code.PermissionDenied));
    const publish = stack.as(admin, WatchService.method.publish, { kind: 3, id: "core" });
    await expect(publish).rejects.toEqual(code(Code.PermissionDenied));
    const credential = { authorization: `Bearer ${admin}` };
    const watch = stack.dispatch.duplex(WatchService.method.watch, createOutbox<never>(), { credential });
    await expect(watch[Symbol.asyncIterator]().next()).rejects.toEqual(code(Code.PermissionDenied));
  });
});

describe("revoking", () => {
  test("ends a key at once, also at auth itself, and can be asked again", async () => {
    const { key, token } = await stack.as(analyst, keys.createApiKey, { name: "Gone" });
    await stack.as(token, keys.whoAmI, {});
    await stack.as(analyst, keys.revokeApiKey, { id: key?.id as string });
    await expect(stack.as(token, keys.whoAmI, {})).rejects.toEqual(code(Code.Unauthenticated));
    expect(await stack.refusalOf(token)).toBe("revoked");
    await stack.as(analyst, keys.revokeApiKey, { id: key?.id as string });
  });

  test("somebody else's key looks like one that is not there", async () => {
    const { key } = await stack.as(admin, keys.createApiKey, { name: "Mine" });
    const other = stack.as(analyst, keys.revokeApiKey, { id: key?.id as string });
    await expect(other).rejects.toEqual(code(Code.NotFound));
    const { keys: listed } = await stack.as(analyst, keys.listApiKeys, { pageSize: 100, includeRevoked: true });
    expect(listed.map(({ id }) => id)).not.toContain(key?.id);
  });
});

test("keys are listed newest first, a page at a time, without the revoked", async () => {
  const { user } = await stack.as(admin, UserService.method.createUser, { email: "pages@example.org", name: "Pages" });
  const userId = user?.id as string;
  const ids: string[] = [];
  for (let i = 0; i < 5; i++) {
    const { key } = await stack.as(admin, keys.createApiKey, { name: `Key ${i}`, userId });
    ids.unshift(key?.id as string);
  }
  await stack.as(admin, keys.revokeApiKey, { id: ids.pop() as string });
  const first = await stack.as(admin, keys.listApiKeys, { userId, pageSize: 3 });
  const second = await stack.as(admin, keys.listApiKeys, { userId, pageSize: 3, pageToken: first.nextPageToken });
  expect([...first.keys, ...second.keys].map(({ id }) => id)).toEqual(ids);
  expect([first.totalSize, second.totalSize, second.nextPageToken]).toEqual([undefined, undefined, ""]);
  await expect(stack.as(admin, keys.listApiKeys, { pageToken: "../" })).rejects.toEqual(code(Code.InvalidArgument));
  await expect(stack.as(admin, keys.listApiKeys, { pageSize: 101 })).rejects.toEqual(code(Code.InvalidArgument));
});

/** A well-formed token for this id with another secret; the checksum computed anew, from its definition. */
function forged(keyId: string): string {
  const body = `slp_${keyId}${createKeyFormat("slp_").mint().token.slice(16, -6)}`;
  const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  let crc = 0xffffffff;
  for (const byte of Buffer.from(body)) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? 0xedb88320 ^ (crc >>> 1) : crc >>> 1;
  }
  let rest = (crc ^ 0xffffffff) >>> 0;
  let sum = "";
  for (let i = 0; i < 6; i++) {
    sum = alphabet[rest % 62] + sum;
    rest = Math.floor(rest / 62);
  }
  return body + sum;
}
