import { Code } from "@connectrpc/connect";
import { verify } from "@node-rs/argon2";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { GroupService } from "#proto/auth/v1/group_service_pb.js";
import { UserService } from "#proto/auth/v1/user_service_pb.js";
import { type Stack, startStack } from "./stack.js";

const users = UserService.method;
const groups = GroupService.method;
let stack: Stack;
let admin: string;
beforeAll(async () => {
  stack = await startStack();
  admin = stack.secrets.admin.apiKey;
});
afterAll(() => stack.close());

const code = (expected: Code) => expect.objectContaining({ code: expected });

describe("an address", () => {
  test("belongs to one user, in whatever case and width it is written", async () => {
    const { user } = await stack.as(admin, users.createUser, { email: " Ana.B@Example.ORG ", name: "Ana" });
    expect(user?.email).toBe("ana.b@example.org");
    for (const email of ["ana.b@example.org", "ANA.B@EXAMPLE.ORG", "ａna.b@example.org"]) {
      const again = stack.as(admin, users.createUser, { email, name: "Another" });
      await expect(again).rejects.toEqual(code(Code.AlreadyExists));
    }
    const found = await stack.as(admin, users.getUser, { email: "ANA.b@example.org" });
    expect(found.user?.id).toBe(user?.id);
  });

  test.each(["аna@example.org", "ana", "ana@", "@example.org", "ana@example", "a b@example.org", "ana@-x.org"])(
    "%s is refused",
    async (email) => {
      const created = stack.as(admin, users.createUser, { email, name: "X" });
      await expect(created).rejects.toEqual(code(Code.InvalidArgument));
    },
  );
});

describe("a password", () => {
  test("is kept as Argon2id of 19 MiB and never shown", async () => {
    const password = "correct horse battery";
    const { user } = await stack.as(admin, users.createUser, { email: "pw@example.org", name: "Pw", password });
    const record = await stack.records.users.findOne({ _id: user?.id as string });
    expect(record?.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/);
    expect(await verify(record?.password_hash as string, password)).toBe(true);
    expect(Object.keys(user as object).join()).not.toMatch(/password/i);
  });

  test.each([
    ["too short", "elevenchars"],
    ["too long", "long ".repeat(26)],
    ["of one character", "aaaaaaaaaaaaaa"],
    ["the user's own address", "weak@example.org"],
  ])("%s is refused", async (_, password) => {
    const created = stack.as(admin, users.createUser, { email: "weak@example.org", name: "W", password });
    await expect(created).rejects.toEqual(code(Code.InvalidArgument));
  });
});

describe("changing a user", () => {
  test("leaves alone what is not given", async () => {
    const { group } = await stack.as(admin, groups.createGroup, { name: "Keepers" });
    const { user } = await stack.as(admin, users.createUser, {
      email: "keep@example.org",
      name: "Keep",
      groups: [group?.id as string],
    });
    const renamed = await stack.as(admin, users.updateUser, { id: user?.id as string, name: "Kept" });
    expect(renamed.user).toMatchObject({ name: "Kept", groups: [group?.id], admin: false, emailVerified: true });
    const emptied = await stack.as(admin, users.updateUser, { id: user?.id as string, groups: { ids: [] } });
    expect(emptied.user?.groups).toEqual([]);
  });

  test("never takes away the last administrator", async () => {
    const { user } = await stack.as(admin, users.getUser, { email: "admin@example.org" });
    const id = user?.id as string;
    for (const change of [{ admin: false }, { disabled: true }]) {
      const last = stack.as(admin, users.updateUser, { id, ...change });
      await expect(last).rejects.toEqual(code(Code.FailedPrecondition));
    }
    const { user: second } = await stack.as(admin, users.createUser, {
      email: "2@example.org",
      name: "2",
      admin: true,
    });
    const both = [id, second?.id as string].map((each) =>
      stack.as(admin, users.updateUser, { id: each, admin: false }),
    );
    const outcomes = (await Promise.allSettled(both)).map(({ status }) => status);
    expect(outcomes.toSorted()).toEqual(["fulfilled", "rejected"]);
    await stack.records.users.updateOne({ _id: id }, { $set: { admin: true } });
  });

  test("of two who read the same user the second is refused, and changes nothing", async () => {
    const { user } = await stack.as(admin, users.createUser, { email: "two@example.org", name: "Two" });
    const id = user?.id as string;
    const read = { expected: user as NonNullable<typeof user> };
    const { user: first } = await stack.as(admin, users.updateUser, { id, admin: true, ...read });
    for (const change of [
      { name: "Too" },
      { disabled: true },
      { groups: { ids: [] } },
      { password: "seven other words here" },
    ]) {
      const second = stack.as(admin, users.updateUser, { id, ...change, ...read });
      await expect(second).rejects.toEqual(code(Code.Aborted));
    }
    expect((await stack.as(admin, users.getUser, { id })).user).toEqual(first);
    const again = await stack.as(admin, users.updateUser, {
      ...{ id, name: "Too" },
      expected: first as NonNullable<typeof first>,
    });
    expect(again.user).toMatchObject({ name: "Too", admin: true });
    const gone = stack.as(admin, users.updateUser, { id: "nobody", name: "x", ...read });
    await expect(gone).rejects.toEqual(code(Code.NotFound));
    await stack.as(admin, users.deleteUser, { id });
  });

  test("of many at once who read the same user one is served", async () => {
    const { user } = await stack.as(admin, users.createUser, { email: "many@example.org", name: "Many" });
    const changes = Array.from({ length: 20 }, (_, n) =>
      stack.as(admin, users.updateUser, {
        ...{ id: user?.id as string, name: `Many ${n}` },
        expected: user as NonNullable<typeof user>,
      }),
    );
    const outcomes = await Promise.allSettled(changes);
    expect(outcomes.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    await stack.as(admin, users.deleteUser, { id: user?.id as string });
  });

  test("is for administrators", async () => {
    const tried = stack.as(stack.secrets.analyst.apiKey, users.updateUser, { id: "x", admin: true });
    await expect(tried).rejects.toEqual(code(Code.PermissionDenied));
  });

  test("a service account becomes neither administrator nor person", async () => {
    const account = await stack.records.users.findOne({ service: true });
    const tried = stack.as(admin, users.updateUser, { id: account?._id as string, admin: true });
    await expect(tried).rejects.toEqual(code(Code.FailedPrecondition));
  });
});

test("users are listed a page at a time, each once", async () => {
  const seen: string[] = [];
  let pageToken = "";
  do {
    const page = await stack.as(admin, users.listUsers, { pageSize: 2, pageToken });
    seen.push(...page.users.map(({ id }) => id));
    pageToken = page.nextPageToken;
  } while (pageToken !== "");
  expect(new Set(seen).size).toBe(seen.length);
  expect(seen.length).toBe(await stack.records.users.countDocuments({}));
});

describe("a group", () => {
  test("has a name that differs from others by more than case", async () => {
    const again = stack.as(admin, groups.createGroup, { name: "ANALYSTS" });
    await expect(again).rejects.toEqual(code(Code.AlreadyExists));
  });

  test("gains and loses members, and its deletion leaves none behind", async () => {
    const { group } = await stack.as(admin, groups.createGroup, { name: "Hunters" });
    const id = group?.id as string;
    const { user } = await stack.as(admin, users.createUser, { email: "hunter@example.org", name: "H" });
    const userId = user?.id as string;
    const { token } = await stack.as(admin, ApiKeyService.method.createApiKey, { name: "K", userId });
    const groupsOf = async () => (await stack.as(token, ApiKeyService.method.whoAmI, {})).caller?.groups;

    const grown = await stack.as(admin, groups.updateGroup, { id, addUserIds: [userId], name: "Threat hunters" });
    expect(grown.group).toMatchObject({ memberCount: 1, name: "Threat hunters" });
    expect(await groupsOf()).toEqual([id]);
    const shrunk = await stack.as(admin, groups.updateGroup, { id, removeUserIds: [userId] });
    expect(shrunk.group?.memberCount).toBe(0);
    expect(await groupsOf()).toEqual([]);

    await stack.as(admin, groups.updateGroup, { id, addUserIds: [userId] });
    await stack.as(admin, groups.deleteGroup, { id });
    expect(await groupsOf()).toEqual([]);
    const { groups: left } = await stack.as(admin, groups.listGroups, {});
    expect(left.map(({ name }) => name)).not.toContain("Threat hunters");
  });

  test("of two who read the same name the second rename is refused, and adds nobody", async () => {
    const { group } = await stack.as(admin, groups.createGroup, { name: "Readers" });
    const { user } = await stack.as(admin, users.createUser, { email: "reader@example.org", name: "R" });
    const id = group?.id as string;
    const read = { expected: group as NonNullable<typeof group> };
    await stack.as(admin, groups.updateGroup, { id, name: "First", ...read });
    for (const change of [{ name: "Second" }, { addUserIds: [user?.id as string] }]) {
      const second = stack.as(admin, groups.updateGroup, { id, ...change, ...read });
      await expect(second).rejects.toEqual(code(Code.Aborted));
    }
    const { groups: all } = await stack.as(admin, groups.listGroups, { pageSize: 100 });
    expect(all.find((one) => one.id === id)).toMatchObject({ name: "First", memberCount: 0 });
    await stack.as(admin, groups.deleteGroup, { id });
    await stack.as(admin, users.deleteUser, { id: user?.id as string });
  });

  test("takes no member who does not exist", async () => {
    const { groups: all } = await stack.as(admin, groups.listGroups, {});
    const tried = stack.as(admin, groups.updateGroup, { id: all[0]?.id as string, addUserIds: ["nobody"] });
    await expect(tried).rejects.toThrow(/"nobody"/);
  });
});
