import { afterAll, beforeAll, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { lookedAt } from "../../../services/shared/store/page.js";
import { type Stack, startStack } from "./stack.js";

// How many there are is told where one page holds them all: elsewhere it would
// have to be counted.

let stack: Stack;
let admin: string;
beforeAll(async () => {
  stack = await startStack();
  admin = stack.secrets.admin.apiKey;
});
afterAll(() => stack.close());

test("users are not counted, but told where a page holds them all", async () => {
  const all = await stack.records.users.countDocuments({});
  const list = (pageSize: number) => stack.as(admin, UserService.method.listUsers, { pageSize });
  expect((await list(100)).totalSize).toBe(all);
  expect((await list(all)).totalSize).toBe(all);
  expect((await list(all - 1)).totalSize).toBeUndefined();
});

test("keys likewise; behind very many that were revoked a page may be empty and say that there is more", async () => {
  const { keys } = stack.records;
  const mine = await keys.findOne({ _id: admin.split("_")[1] as string });
  if (mine === null) throw new Error("the administrator's key is not there");
  const revoked = { ...mine, revoked_at: new Date() };
  await keys.insertMany(
    Array.from({ length: lookedAt(1) * 2 }, (_, i) => ({ ...revoked, _id: `r${i}`, serial: `r${i}` })),
  );
  const list = (includeRevoked: boolean, pageToken = "") =>
    stack.as(admin, ApiKeyService.method.listApiKeys, { pageSize: 1, includeRevoked, pageToken });
  const first = await list(true);
  expect(first.keys).toMatchObject([{ revokedAt: expect.anything() }]);
  expect(first.totalSize).toBeUndefined();
  const seen: string[] = [];
  let [pageToken, pages] = ["", 0];
  do {
    const page = await list(false, pageToken);
    seen.push(...page.keys.map(({ id }) => id));
    pageToken = page.nextPageToken;
    pages++;
  } while (pageToken !== "");
  expect(seen).toEqual([mine._id]);
  expect(pages).toBe(3);
});
