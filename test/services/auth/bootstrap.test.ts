import { verify } from "@node-rs/argon2";
import { afterEach, beforeEach, expect, test } from "vitest";
import { ApiKeyService } from "#proto/auth/v1/api_key_service_pb.js";
import { type BootstrapSecrets, bootstrap } from "../../../services/auth/bootstrap.js";
import { openAuthStore } from "../../../services/auth/store.js";
import type { Store } from "../../../services/shared/store/store.js";
import { type Stack, startStack, temporaryStore } from "./stack.js";

const PEOPLE = { adminEmail: "admin@example.org", analystEmail: "analyst@example.org" };
let store: Store;
beforeEach(async () => {
  store = await temporaryStore();
});
afterEach(() => store.close());

test("a first start makes an administrator, an analyst in a group, and a service account, and happens once", async () => {
  const stack: Stack = await startStack({ store });
  const { admin, analyst, serviceKey } = stack.secrets;
  const whoAmI = async (key: string) => (await stack.as(key, ApiKeyService.method.whoAmI, {})).caller;
  expect(await whoAmI(admin.apiKey)).toMatchObject({ email: "admin@example.org", admin: true });
  expect(await whoAmI(analyst.apiKey)).toMatchObject({ email: "analyst@example.org", admin: false });
  const group = await stack.records.groups.findOne({ name: "Analysts" });
  expect((await whoAmI(analyst.apiKey))?.groups).toEqual([group?._id]);
  await expect(whoAmI(serviceKey)).rejects.toThrow(/account/);
  const record = await stack.records.users.findOne({ login: "admin@example.org" });
  expect(await verify(record?.password_hash as string, admin.password)).toBe(true);
  expect(await bootstrap({ store, ...PEOPLE, keep: () => undefined })).toBeUndefined();
  await stack.service.close();
});

test("a first start that broke off is done again, and the secrets kept last are the ones that count", async () => {
  const kept: BootstrapSecrets[] = [];
  const keep = (secrets: BootstrapSecrets) => {
    kept.push(secrets);
  };
  await bootstrap({ store, ...PEOPLE, keep });
  const records = await openAuthStore(store);
  await records.state.deleteOne({ _id: "bootstrapped" });
  await bootstrap({ store, ...PEOPLE, keep });
  const [first, last] = kept;
  expect(await records.keys.countDocuments({})).toBe(3);
  expect(await records.users.countDocuments({})).toBe(3);
  const idOf = (token: string | undefined) => token?.slice(4, 16) as string;
  expect(await records.keys.findOne({ _id: idOf(first?.admin.apiKey) })).toBeNull();
  expect(await records.keys.findOne({ _id: idOf(last?.admin.apiKey) })).not.toBeNull();
});

test("nothing is recorded where the secrets cannot be kept", async () => {
  const keep = () => Promise.reject(new Error("disk full"));
  await expect(bootstrap({ store, ...PEOPLE, keep })).rejects.toThrow("disk full");
  expect(await (await openAuthStore(store)).users.countDocuments({})).toBe(0);
});
