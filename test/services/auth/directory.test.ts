import { afterAll, beforeAll, expect, test } from "vitest";
import { DirectoryService } from "#proto/auth/v1/directory_service_pb.js";
import { GroupService } from "#proto/auth/v1/group_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { type Stack, startStack } from "./stack.js";

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

test("a name means a user by id or address and a group by id or name, and nobody else", async () => {
  const admin = stack.secrets.admin.apiKey;
  const { user } = await stack.as(admin, UserService.method.createUser, { email: "zoe@example.org", name: "Zoe" });
  const { group } = await stack.as(admin, GroupService.method.createGroup, { name: "Night shift" });
  const service = await stack.records.users.findOne({ service: true });
  const names = [
    `user:${user!.id}`,
    "user:ZOE@example.org",
    `group:${group!.id}`,
    "group:night shift",
    "user:nobody@example.org",
    "user:not an address@",
    `user:${service!._id}`,
    `group:${user!.id}`,
    "everyone",
  ];
  const { principals } = await stack.as(stack.secrets.serviceKey, DirectoryService.method.resolvePrincipals, { names });
  expect(principals).toEqual({
    [`user:${user!.id}`]: `user:${user!.id}`,
    "user:ZOE@example.org": `user:${user!.id}`,
    [`group:${group!.id}`]: `group:${group!.id}`,
    "group:night shift": `group:${group!.id}`,
  });
  await expect(stack.as(admin, DirectoryService.method.resolvePrincipals, { names })).rejects.toThrow("internal");
});
