import { timestampFromMs, timestampMs } from "@bufbuild/protobuf/wkt";
import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { type Stack, startStack } from "./stack.js";

const keys = ApiKeyService.method;
const users = UserService.method;
const DAY = 86_400_000;
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

test("a rotated key has the same name, scopes and length of life; the old one ends at once, or after the overlap", async () => {
  const expiresAt = timestampFromMs(Date.now() + 10 * DAY);
  const old = await stack.as(analyst, keys.createApiKey, { name: "R", scopes: ["cti:read"], expiresAt });
  const lap = await stack.as(admin, keys.rotateApiKey, { id: old.key?.id as string, overlapSeconds: 60 });
  expect(lap.key).toMatchObject({ name: "R", scopes: ["cti:read"], userEmail: "analyst@example.org" });
  expect(timestampMs(lap.key!.expiresAt!) - Date.now()).toBeGreaterThan(9.9 * DAY);
  expect([await stack.refusalOf(old.token), await stack.refusalOf(lap.token)]).toEqual([undefined, undefined]);
  const record = await stack.records.keys.findOne({ _id: old.key?.id as string });
  expect(record!.expires_at!.getTime() - Date.now()).toBeLessThanOrEqual(60_000);

  const next = await stack.as(analyst, keys.rotateApiKey, { id: lap.key?.id as string });
  expect([await stack.refusalOf(lap.token), await stack.refusalOf(next.token)]).toEqual(["revoked", undefined]);
  const again = stack.as(analyst, keys.rotateApiKey, { id: lap.key?.id as string });
  await expect(again).rejects.toEqual(code(Code.FailedPrecondition));
});

test("nobody rotates or prolongs another's key but an administrator", async () => {
  const { key } = await stack.as(admin, keys.createApiKey, { name: "Mine" });
  const id = key?.id as string;
  await expect(stack.as(analyst, keys.rotateApiKey, { id })).rejects.toEqual(code(Code.NotFound));
  await expect(stack.as(analyst, keys.updateApiKey, { id })).rejects.toEqual(code(Code.NotFound));
});

test("a key cannot prolong itself, by another expiry or by rotation", async () => {
  const ends = Date.now() + DAY;
  const { key, token } = await stack.as(analyst, keys.createApiKey, {
    name: "Short",
    expiresAt: timestampFromMs(ends),
  });
  const id = key?.id as string;
  const prolonged = await stack.as(token, keys.updateApiKey, { id });
  expect(timestampMs(prolonged.key!.expiresAt!)).toBe(ends);
  const rotated = await stack.as(token, keys.rotateApiKey, { id });
  expect(timestampMs(rotated.key!.expiresAt!)).toBe(ends);
});

test("a key that was narrowed makes no wider one in its place", async () => {
  const { token } = await stack.as(analyst, keys.createApiKey, { name: "Narrow", scopes: ["cti:read"] });
  const wide = await stack.as(analyst, keys.createApiKey, { name: "Wide" });
  const id = wide.key?.id as string;
  await expect(stack.as(token, keys.rotateApiKey, { id })).rejects.toEqual(code(Code.PermissionDenied));
});

test("another expiry holds, and none in the past is taken", async () => {
  const { key } = await stack.as(analyst, keys.createApiKey, { name: "Later" });
  const id = key?.id as string;
  const expiresAt = timestampFromMs(Date.now() + DAY);
  expect((await stack.as(admin, keys.updateApiKey, { id, expiresAt })).key?.expiresAt).toEqual(expiresAt);
  expect((await stack.as(admin, keys.updateApiKey, { id })).key?.expiresAt).toBeUndefined();
  const past = stack.as(admin, keys.updateApiKey, { id, expiresAt: timestampFromMs(1) });
  await expect(past).rejects.toEqual(code(Code.InvalidArgument));
});

test("a deleted user is gone with all keys; the last administrator and service accounts stay", async () => {
  const { user } = await stack.as(admin, users.createUser, { email: "gone@example.org", name: "Gone" });
  const { token } = await stack.as(admin, keys.createApiKey, { name: "k", userId: user?.id as string });
  expect(await stack.refusalOf(token)).toBeUndefined();
  expect((await stack.as(admin, users.deleteUser, { id: user?.id as string })).revokedKeys).toBe(1);
  expect(await stack.refusalOf(token)).toBe("unknown");
  await expect(stack.as(admin, users.deleteUser, { id: user?.id as string })).rejects.toEqual(code(Code.NotFound));
  const { users: all } = await stack.as(admin, users.listUsers, {});
  for (const { id } of all.filter(({ admin: one, service }) => one || service)) {
    await expect(stack.as(admin, users.deleteUser, { id })).rejects.toEqual(code(Code.FailedPrecondition));
  }
  // Whoever has the address next is somebody else.
  const again = await stack.as(admin, users.createUser, { email: "gone@example.org", name: "New" });
  expect(again.user?.id).not.toBe(user?.id);
});

test("the members of a group are listed", async () => {
  const { users: all } = await stack.as(admin, users.listUsers, {});
  const groupId = all.find(({ email }) => email === "analyst@example.org")?.groups[0] as string;
  const { users: members } = await stack.as(admin, users.listUsers, { groupId });
  expect(members.map(({ email }) => email)).toEqual(["analyst@example.org"]);
});
