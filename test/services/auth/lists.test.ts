import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { type Stack, startStack } from "./stack.js";

// How many there are is counted up to a bound, which keeps a list cheap however
// many there are.

const BOUND = 2_000;

let stack: Stack;
let admin: string;
beforeAll(async () => {
  stack = await startStack();
  admin = stack.secrets.admin.apiKey;
});
afterAll(() => stack.close());

async function addUsers(count: number): Promise<void> {
  const { users } = stack.records;
  const one = await users.findOne({ login: "analyst@example.org" });
  if (one === null) throw new Error("the analyst is not there");
  const start = await users.countDocuments({});
  await users.insertMany(
    Array.from({ length: count }, (_, i) => ({ ...one, _id: `~${start + i}`, login: `u${start + i}@example.org` })),
  );
}

test("users are counted exactly up to the bound, and said to be more above it", async () => {
  const list = () => stack.as(admin, UserService.method.listUsers, { pageSize: 1 });
  const { totalSize: few, totalSizeIsLowerBound } = await list();
  expect([few, totalSizeIsLowerBound]).toEqual([await stack.records.users.countDocuments({}), false]);
  await addUsers(BOUND - few);
  expect(await list()).toMatchObject({ totalSize: BOUND, totalSizeIsLowerBound: false });
  await addUsers(500);
  expect(await list()).toMatchObject({ totalSize: BOUND, totalSizeIsLowerBound: true });
});

test("keys likewise, those that were revoked among them", async () => {
  const { keys } = stack.records;
  const mine = await keys.findOne({ _id: admin.split("_")[1] as string });
  if (mine === null) throw new Error("the administrator's key is not there");
  const revoked = { ...mine, revoked_at: new Date() };
  await keys.insertMany(Array.from({ length: BOUND }, (_, i) => ({ ...revoked, _id: `r${i}`, serial: `r${i}` })));
  const list = (includeRevoked: boolean) =>
    stack.as(admin, ApiKeyService.method.listApiKeys, { pageSize: 1, includeRevoked });
  expect(await list(true)).toMatchObject({ totalSize: BOUND, totalSizeIsLowerBound: true });
  expect((await list(false)).totalSizeIsLowerBound).toBe(false);
});
