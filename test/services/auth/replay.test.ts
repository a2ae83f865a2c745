import { afterEach, beforeEach, expect, test } from "vitest";
import { bootstrap } from "../../../services/auth/bootstrap.js";
import { renewKeys } from "../../../services/auth/renew-keys.js";
import { replayAuth } from "../../../services/auth/replay.js";
import { type AuthStore, openAuthStore } from "../../../services/auth/store.js";
import { createKeyFormat } from "../../../services/shared/credentials/format.js";
import type { Store } from "../../../services/shared/store/store.js";
import { temporaryStore } from "./stack.js";

let stores: Store[];
let old: AuthStore;
let restored: AuthStore;
beforeEach(async () => {
  stores = [await temporaryStore(), await temporaryStore()];
  const emails = { adminEmail: "admin@example.org", analystEmail: "analyst@example.org" };
  await bootstrap({ store: stores[0] as Store, ...emails, keep: () => undefined });
  [old, restored] = (await Promise.all(stores.map(openAuthStore))) as [AuthStore, AuthStore];
  for (const name of ["users", "groups", "keys", "state"] as const) {
    for (const record of await old[name].find({} as never).toArray()) await restored[name].insertOne(record as never);
  }
});
afterEach(async () => {
  for (const store of stores) await store.close();
});

const userOf = (store: AuthStore, login: string) => store.users.findOne({ login });

test("a user who lost rights does not get them back, nor the password before", async () => {
  const set = { admin: false, groups: [], email_verified: false, password_hash: "newer" };
  await old.users.updateMany({ service: false }, { $set: set });
  await restored.users.updateOne({ login: "admin@example.org" }, { $set: { disabled: true } });
  await replayAuth(old, restored);
  expect(await userOf(restored, "analyst@example.org")).toMatchObject({ ...set, disabled: false });
  expect(await userOf(restored, "admin@example.org")).toMatchObject({ ...set, disabled: true });
});

test("rights given since are not given again: the restored store is as it was, or less", async () => {
  await old.users.updateOne({ login: "analyst@example.org" }, { $set: { admin: true, groups: ["new"] } });
  await replayAuth(old, restored);
  expect(await userOf(restored, "analyst@example.org")).toMatchObject({ admin: false, groups: [] });
});

test("keys end when either store says, and what is done twice changes nothing", async () => {
  const [first, second] = await restored.keys.find({}).toArray();
  const soon = new Date(Date.now() + 60_000);
  await old.keys.updateOne({ _id: first!._id }, { $set: { expires_at: soon } });
  await old.keys.deleteOne({ _id: second!._id });
  await old.groups.deleteMany({});
  await old.state.updateOne({ _id: "epoch" }, { $set: { n: 9 } }, { upsert: true });
  expect(await replayAuth(old, restored)).toMatchObject({ keys: 2, groups: 1 });
  expect((await restored.keys.findOne({ _id: first!._id }))?.expires_at).toEqual(soon);
  expect((await restored.keys.findOne({ _id: second!._id }))?.revoked_at).toBeInstanceOf(Date);
  expect((await restored.state.findOne({ _id: "epoch" }))?.n).toBe(9);
  expect(await replayAuth(old, restored)).toEqual({ keys: 0, users: 0, groups: 0, auditRecords: 0 });
});

test("where all keys are revoked, an administrator gets a new one whoever is wanted", async () => {
  const format = createKeyFormat("slp_");
  await restored.users.updateOne({ login: "admin@example.org" }, { $set: { name: "A" } });
  const { revoked, people, serviceKey } = await renewKeys(restored, format, ["analyst@example.org"]);
  expect([...people.keys()].sort()).toEqual(["admin@example.org", "analyst@example.org"]);
  expect(revoked).toBe(3);
  expect(await restored.keys.countDocuments({ revoked_at: null })).toBe(3);
  expect(format.parse(serviceKey)).toBeDefined();
  await restored.users.updateMany({ admin: true }, { $set: { disabled: true } });
  await expect(renewKeys(restored, format, [])).rejects.toThrow(/no enabled administrator/);
});

test("a service account has only what both stores give it, and an assertion that was used stays used", async () => {
  const one = { kty: "OKP", crv: "Ed25519", x: "A", kid: "one", alg: "EdDSA" };
  const two = { ...one, x: "B", kid: "two" };
  const account = { keys: [one, two], methods: ["a/*", "b/*"], act_users: ["u", "v"], act_groups: ["g"] };
  const analyst = (await userOf(old, "analyst@example.org"))!;
  for (const [store, own] of [
    [old, { keys: [two], methods: ["b/*", "c/*"], act_users: ["v"], act_groups: [] }],
    [restored, account],
  ] as const) {
    await store.users.insertOne({
      ...{ ...analyst, _id: "soar", login: "svc:soar", service: true },
      account: own as unknown as typeof account,
    });
  }
  await old.usedAssertions.insertOne({ _id: "used", expires_at: new Date(Date.now() + 60_000) });
  await replayAuth(old, restored);
  expect((await userOf(restored, "svc:soar"))?.account).toEqual({
    ...{ keys: [two], methods: ["b/*"], act_users: ["v"], act_groups: [] },
  });
  expect(await restored.usedAssertions.countDocuments({ _id: "used" })).toBe(1);
});
