import { createLocalJWKSet, jwtVerify, SignJWT } from "jose";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type KeyRing, openKeyRing } from "../../../services/auth/key-ring.js";
import { type AuthStore, openAuthStore, type RingName } from "../../../services/auth/store.js";
import { createSeal } from "../../../services/shared/secrets/seal.js";
import type { Store } from "../../../services/shared/store/store.js";
import { SEAL, temporaryStore } from "./stack.js";

const HOUR = 3_600_000;
let store: Store;
let records: AuthStore;
let now: number;
beforeEach(async () => {
  store = await temporaryStore();
  records = await openAuthStore(store);
  now = Date.now();
});
afterEach(() => store.close());

const open = (ring: RingName, seal = SEAL): Promise<KeyRing> =>
  openKeyRing(records, ring, { leadMs: 2 * HOUR, graceMs: 2 * HOUR, rotateMs: 24 * HOUR, seal, now: () => now });
const kidsOf = (ring: KeyRing) => ring.jwks().keys.map(({ kid }) => kid);

test("the three rings never share a key, and none verifies what another signed", async () => {
  const rings = await Promise.all((["access", "assertion", "platform"] as const).map((ring) => open(ring)));
  for (const ring of rings) await ring.rotate();
  const kids = rings.flatMap(kidsOf);
  expect(new Set(kids).size).toBe(6);
  const points = rings.flatMap((ring) => ring.jwks().keys.map(({ x }) => x));
  expect(new Set(points).size).toBe(6);
  for (const signing of rings) {
    const { kid, key } = signing.signer();
    const token = await new SignJWT({ email: "ana@example.org" }).setProtectedHeader({ alg: "EdDSA", kid }).sign(key);
    for (const other of rings) {
      const verified = jwtVerify(token, createLocalJWKSet(other.jwks()));
      if (other === signing) await verified;
      else await expect(verified).rejects.toThrow();
    }
  }
});

test("what is published is the public half, with the name that platforms allow", async () => {
  const [key] = (await open("platform")).jwks().keys;
  expect(Object.keys(key as object).toSorted()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
  expect(key).toMatchObject({ kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig" });
});

test("a ring is the same after a restart", async () => {
  expect(kidsOf(await open("platform"))).toEqual(kidsOf(await open("platform")));
});

test("a new key is published two hours before it signs, and the old one two hours after", async () => {
  const ring = await open("platform");
  const old = ring.signer().kid;
  await ring.rotate();
  expect(kidsOf(ring)).toHaveLength(2);
  expect(ring.signer().kid).toBe(old);
  now += 2 * HOUR - 1;
  expect(ring.signer().kid).toBe(old);
  now += 1;
  const fresh = ring.signer().kid;
  expect(fresh).not.toBe(old);
  expect(kidsOf(ring)).toContain(old);
  now += 2 * HOUR;
  await ring.tend();
  expect(kidsOf(ring)).toEqual([fresh]);
  expect(await records.signingKeys.countDocuments({ ring: "platform" })).toBe(1);
});

test("a ring rotates by itself when its key is old, and once", async () => {
  const ring = await open("assertion");
  now += 24 * HOUR + 1;
  await ring.tend();
  await ring.tend();
  expect(kidsOf(ring)).toHaveLength(2);
});

test("the private half lies sealed in the store, for its own record alone", async () => {
  const ring = await open("platform");
  await ring.rotate();
  const [first, second] = await records.signingKeys.find({ ring: "platform" }).toArray();
  expect(JSON.stringify([first, second])).not.toMatch(/"d":/);
  await records.signingKeys.updateOne({ _id: first?._id as string }, { $set: { sealed: second?.sealed as string } });
  await expect(open("platform")).rejects.toThrow(/was changed after it was encrypted/);
});

test("keys that another sealing key sealed are sealed with the newest at the start, and sign as before", async () => {
  const [older, newer] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];
  const { kid } = (await open("platform", createSeal([older]))).signer();
  await expect(open("platform", createSeal([newer]))).rejects.toThrow(/encrypted with another key: add that key/);
  expect((await open("platform", createSeal([newer, older]))).signer().kid).toBe(kid);
  expect((await open("platform", createSeal([newer]))).signer().kid).toBe(kid);
});
