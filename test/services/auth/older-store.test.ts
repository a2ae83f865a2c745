import type { Document } from "mongodb";
import { describe, expect, test } from "vitest";
import { bootstrap } from "../../../services/auth/bootstrap.js";
import { createAuthService } from "../../../services/auth/service.js";
import { openAuthStore } from "../../../services/auth/store.js";
import { hashSecret } from "../../../services/auth/verification.js";
import { openCatalogueStore } from "../../../services/catalogue/store.js";
import { createKeyFormat, DEFAULT_KEY_PREFIX } from "../../../services/shared/credentials/format.js";
import { silentLog } from "../../../services/shared/process/log.js";
import type { Base, CollectionSpec, Store } from "../../../services/shared/store/store.js";
import { titled } from "../../support/titled.js";
import { backends } from "../shared/store/backends.js";
import { SEAL } from "./stack.js";

// Stores that a version before this one wrote, whose fields were camelCase.

const OLD_AUTH: readonly CollectionSpec[] = [
  { name: "users", indexes: [{ name: "users_login", key: { login: 1 }, unique: true }] },
  { name: "groups", indexes: [{ name: "groups_name", key: { nameKey: 1 }, unique: true }] },
  { name: "api_keys", indexes: [{ name: "api_keys_user", key: { userId: 1, serial: -1 } }] },
  { name: "signing_keys", indexes: [{ name: "signing_keys_ring", key: { ring: 1 } }] },
  { name: "auth_state", indexes: [] },
];
const OLD_CATALOGUE: readonly CollectionSpec[] = ["switches", "platforms", "registration_tokens"].map((name) => ({
  name,
  indexes: name === "registration_tokens" ? [{ name: "digest", key: { digest: 1 }, unique: true }] : [],
}));

const at = new Date("2026-01-02T03:04:05Z");
const format = createKeyFormat(DEFAULT_KEY_PREFIX);

async function insert(store: Store, name: string, ...documents: (Document & Base)[]): Promise<void> {
  await store.collection<Document & Base>(name).insertMany(documents);
}

for (const backend of backends) {
  describe.skipIf(backend.missing !== undefined)(titled(backend.title, backend.missing), () => {
    test("serves users, groups, keys and signing keys of an older version", async () => {
      const { store, close } = await backend.open();
      try {
        await store.ensure(OLD_AUTH);
        const { keyId, secret, token } = format.mint();
        const dates = { createdAt: at, updatedAt: at };
        const person = { admin: true, disabled: false, groups: ["g1"], service: false, passwordHash: null };
        await insert(
          store,
          "users",
          { _id: "u1", login: "ana@example.org", name: "Ana", emailVerified: true, ...person, ...dates },
          { _id: "u2", login: "ben@example.org", name: "Ben", emailVerified: false, ...person, ...dates },
        );
        await insert(
          store,
          "groups",
          { _id: "g1", name: "Analysts", nameKey: "analysts", createdAt: at },
          { _id: "g2", name: "Others", nameKey: "others", createdAt: at },
        );
        const life = { createdAt: at, expiresAt: null, revokedAt: null, lastUsedAt: at, uses: 3 };
        const own = { serial: "1", name: "First key", scopes: null, ...(await hashSecret(secret)) };
        await insert(store, "api_keys", { _id: keyId, userId: "u1", ...own, ...life });
        await insert(store, "auth_state", { _id: "bootstrapped", n: 1 }, { _id: "epoch", n: 4 });

        const keep = () => Promise.reject(new Error("nothing is to be made anew"));
        const emails = { adminEmail: "admin@example.org", analystEmail: "analyst@example.org" };
        expect(await bootstrap({ store, keep, ...emails })).toBeUndefined();
        const auth = await createAuthService({
          store,
          seal: SEAL,
          baseUrl: "http://localhost",
          log: silentLog,
          fenceMs: 0,
        });
        const known = await auth.authenticator.authenticate({ authorization: `Bearer ${token}` });
        expect(known.caller).toMatchObject({ id: "u1", email: "ana@example.org", admin: true, groups: ["g1"] });
        await auth.close();

        const records = await openAuthStore(store);
        expect(await records.groups.findOne({ name_key: "others" })).toEqual({
          _id: "g2",
          name: "Others",
          name_key: "others",
          created_at: at,
        });
        expect(await records.users.findOne({ _id: "u2" })).toMatchObject({ email_verified: false, updated_at: at });
        expect(await records.keys.find({ user_id: "u1", revoked_at: null }).toArray()).toMatchObject([{ _id: keyId }]);
        const signing = await records.signingKeys.find({}).toArray();
        expect(signing.every(({ signs_from }) => signs_from instanceof Date)).toBe(true);
      } finally {
        await close();
      }
    }, 60_000);

    test("keeps the signing key of an older version", async () => {
      const { store, close } = await backend.open();
      try {
        await store.ensure(OLD_AUTH);
        const { generateKeyPair, exportJWK } = await import("jose");
        const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true });
        const signsFrom = new Date(Date.now() - 3_600_000);
        const key = { _id: "k1", ring: "platform", jwk: await exportJWK(privateKey), signsFrom, removeAt: null };
        await insert(store, "signing_keys", { ...key, createdAt: at });
        const auth = await createAuthService({
          store,
          seal: SEAL,
          baseUrl: "http://localhost",
          log: silentLog,
          fenceMs: 0,
        });
        await auth.close();
        const { signingKeys } = await openAuthStore(store);
        const kept = await signingKeys.find({ ring: "platform" }).toArray();
        expect(kept).toMatchObject([{ _id: "k1", signs_from: signsFrom, remove_at: null, created_at: at }]);
      } finally {
        await close();
      }
    }, 60_000);

    test("serves switches, platforms and registration tokens of an older version", async () => {
      const { store, close } = await backend.open();
      try {
        await store.ensure(OLD_CATALOGUE);
        await insert(store, "switches", { _id: "switches", platformServers: false, core: true, ai: true });
        const platform = { url: "https://cti.example.org", title: "CTI", version: "6" };
        await insert(store, "platforms", { _id: "cti", ...platform, platformId: "p1", lastSeenAt: at });
        await insert(store, "registration_tokens", { _id: "t1", name: "one", digest: "d", createdAt: at });
        const { switches, platforms, registrationTokens } = await openCatalogueStore(store);
        expect(await switches.findOne({ _id: "switches" })).toMatchObject({ platform_servers: false, core: true });
        expect(await platforms.findOne({ _id: "cti" })).toMatchObject({
          server: "cti",
          platform_id: "p1",
          last_seen_at: at,
        });
        expect(await registrationTokens.findOne({ digest: "d" })).toMatchObject({ name: "one", created_at: at });
      } finally {
        await close();
      }
    }, 60_000);
  });
}
