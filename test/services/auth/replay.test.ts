import { create } from "@bufbuild/protobuf";
import { afterEach, beforeEach, expect, test } from "vitest";
import { AuditRecordSchema } from "#proto/auth/v1/audit_service_pb.js";
import { openAuditTrail } from "../../../services/auth/audit-trail.js";
import { bootstrap } from "../../../services/auth/bootstrap.js";
import { openKeyRing } from "../../../services/auth/key-ring.js";
import { renewKeys } from "../../../services/auth/renew-keys.js";
import { replayAuth } from "../../../services/auth/replay.js";
import { type AuthStore, type KeyRingRecord, openAuthStore } from "../../../services/auth/store.js";
import { createKeyFormat } from "../../../services/shared/credentials/format.js";
import type { Store } from "../../../services/shared/store/store.js";
import { SEAL, temporaryStore } from "./stack.js";

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
  expect(await replayAuth(old, restored)).toEqual({ keys: 0, users: 0, groups: 0, signingKeys: 0, auditRecords: 0 });
});

test("the audit goes on where it had come, also if the days of its last records are over", async () => {
  const bounds = { days: 1, records: 1_000 };
  const records = (count: number) => Array.from({ length: count }, () => create(AuditRecordSchema, { action: "a" }));
  const before = openAuditTrail(restored, bounds);
  await before.append(records(2));
  await before.close();
  const trail = openAuditTrail(old, bounds, () => Date.now() + 2 * 86_400_000);
  const early = openAuditTrail(old, bounds);
  await early.append(records(5));
  await early.close();
  await trail.tend();
  await trail.close();
  expect(await replayAuth(old, restored)).toMatchObject({ auditRecords: 0 });
  const after = openAuditTrail(restored, bounds);
  expect(await after.append(records(1))).toEqual([6n]);
  await after.close();
});

test("a signing key that was revoked does not come back, and the ring has one that signs at the next start", async () => {
  const options = { leadMs: 1_000, graceMs: 1_000, rotateMs: 1e9, seal: SEAL };
  const ring = await openKeyRing(old, "assertion", options);
  const { kid } = await ring.signer();
  await restored.keyRings.insertOne((await old.keyRings.findOne({ _id: "assertion" })) as KeyRingRecord);
  await ring.revoke(kid);
  expect(await replayAuth(old, restored)).toMatchObject({ signingKeys: 1 });
  expect(await replayAuth(old, restored)).toMatchObject({ signingKeys: 0 });
  const next = await openKeyRing(restored, "assertion", options);
  expect((await next.jwks()).keys).toMatchObject([{ kid: (await next.signer()).kid }]);
  expect((await next.signer()).kid).not.toBe(kid);
  expect((await restored.keyRings.findOne({ _id: "assertion" }))?.revoked).toEqual([kid]);
});

test("where all keys are revoked, those that sign are too", async () => {
  const options = { leadMs: 1_000, graceMs: 1_000, rotateMs: 1e9, seal: SEAL };
  const { kid } = await (await openKeyRing(restored, "platform", options)).signer();
  await renewKeys(restored, createKeyFormat("slp_"), []);
  expect((await (await openKeyRing(restored, "platform", options)).signer()).kid).not.toBe(kid);
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

test("connections that ended since stay ended, sign-ins are forgotten, and a used refresh token stays used", async () => {
  const { _id: user_id } = (await userOf(restored, "analyst@example.org"))!;
  const grant = (id: string) => ({
    _id: id,
    user_id,
    serial: id,
    client_id: "client",
    client_name: "Client",
    client_host: "",
    redirect: "http://127.0.0.1:1",
    resource: "https://sallyport.example/mcp/cti",
    server: "cti",
    scopes: ["cti:read"],
    created_at: new Date(),
    expires_at: new Date(Date.now() + 60_000),
    revoked_at: null,
    last_used_at: null,
    uses: 0,
  });
  const record = (id: string, model: string) => ({
    ...{ _id: id, model, payload: "{}", grant_id: "lives", uid: null },
    ...{ consumed_at: null, expires_at: null },
  });
  for (const id of ["lives", "ended", "gone"]) await restored.grants.insertOne(grant(id));
  await old.grants.insertOne(grant("lives"));
  await old.grants.insertOne({ ...grant("ended"), revoked_at: new Date(1) });
  for (const [id, model] of [
    ["client", "Client"],
    ["unused", "RefreshToken"],
    ["used", "RefreshToken"],
    ["lost", "RefreshToken"],
  ] as const) {
    await restored.oauth.insertOne(record(id, model));
  }
  await old.oauth.insertOne(record("unused", "RefreshToken"));
  await old.oauth.insertOne({ ...record("used", "RefreshToken"), consumed_at: new Date(2) });
  await restored.sessions.insertOne({
    ...{ _id: "session", user_id, address: "127.0.0.1", user_agent: "", amr: "pwd" },
    ...{ created_at: new Date(), seen_at: new Date(), expires_at: new Date(Date.now() + 60_000) },
  });
  await replayAuth(old, restored);
  const revoked = await restored.grants.find({}).sort({ _id: 1 }).toArray();
  expect(revoked.map(({ _id, revoked_at }) => [_id, revoked_at !== null])).toEqual([
    ["ended", true],
    ["gone", true],
    ["lives", false],
  ]);
  expect((await restored.oauth.find({}).toArray()).map(({ _id }) => _id).sort()).toEqual(["client", "unused"]);
  expect(await restored.sessions.countDocuments()).toBe(0);
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
