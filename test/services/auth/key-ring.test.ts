import { Code } from "@connectrpc/connect";
import { createLocalJWKSet, errors, jwtVerify, SignJWT } from "jose";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { verifyOwn } from "../../../services/auth/authenticator.js";
import { endSigningKeys } from "../../../services/auth/end-signing-keys.js";
import { type KeyRing, openKeyRing } from "../../../services/auth/key-ring.js";
import {
  type AuthStore,
  type KeyRingRecord,
  openAuthStore,
  type RingName,
  type SigningKeyRecord,
} from "../../../services/auth/store.js";
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
const kidsOf = async (ring: KeyRing) => (await ring.jwks()).keys.map(({ kid }) => kid);
const signerOf = async (ring: KeyRing) => (await ring.signer()).kid;
const code = (expected: Code) => expect.objectContaining({ code: expected });

async function signed(ring: KeyRing): Promise<string> {
  const { kid, key } = await ring.signer();
  return new SignJWT({ email: "ana@example.org" }).setProtectedHeader({ alg: "EdDSA", kid }).sign(key);
}

test("the three rings never share a key, and none verifies what another signed", async () => {
  const rings = await Promise.all((["access", "assertion", "platform"] as const).map((ring) => open(ring)));
  for (const ring of rings) await ring.rotate();
  const kids = (await Promise.all(rings.map(kidsOf))).flat();
  expect(new Set(kids).size).toBe(6);
  const sets = await Promise.all(rings.map((ring) => ring.jwks()));
  expect(new Set(sets.flatMap(({ keys }) => keys.map(({ x }) => x))).size).toBe(6);
  for (const [i, signing] of rings.entries()) {
    const token = await signed(signing);
    for (const [j, other] of rings.entries()) {
      for (const keys of [createLocalJWKSet(sets[j] as never), other.verifier()]) {
        const verified = jwtVerify(token, keys);
        if (i === j) await verified;
        else await expect(verified).rejects.toThrow(errors.JWKSNoMatchingKey);
      }
    }
  }
});

test("what is published is the public half, with the name that platforms allow", async () => {
  const [key] = (await (await open("platform")).jwks()).keys;
  expect(Object.keys(key as object).toSorted()).toEqual(["alg", "crv", "kid", "kty", "use", "x"]);
  expect(key).toMatchObject({ kty: "OKP", crv: "Ed25519", alg: "EdDSA", use: "sig" });
});

test("a ring is the same after a restart", async () => {
  expect(await kidsOf(await open("platform"))).toEqual(await kidsOf(await open("platform")));
});

test("a new key is published two hours before it signs, and the old one two hours after", async () => {
  const ring = await open("platform");
  const old = await signerOf(ring);
  const { key, previous } = await ring.rotate();
  expect(key).toMatchObject({
    ring: "platform",
    signsFrom: new Date(now + 2 * HOUR),
    removeAt: null,
    state: "published",
  });
  expect(previous).toMatchObject({ kid: old, removeAt: new Date(now + 4 * HOUR), state: "signing" });
  expect(await kidsOf(ring)).toEqual([key.kid, old]);
  now += 2 * HOUR - 1;
  expect(await signerOf(ring)).toBe(old);
  now += 1;
  expect(await signerOf(ring)).toBe(key.kid);
  expect((await ring.list()).map(({ state }) => state)).toEqual(["signing", "retiring"]);
  const token = await signed(ring);
  now += 2 * HOUR;
  // Not even before it is tidied up.
  expect(await kidsOf(ring)).toEqual([key.kid]);
  await ring.tend();
  expect((await records.keyRings.findOne({ _id: "platform" }))?.keys).toHaveLength(1);
  await jwtVerify(token, ring.verifier());
});

test("a ring rotates by itself when its key is old, and once", async () => {
  const ring = await open("assertion");
  now += 24 * HOUR + 1;
  await ring.tend();
  await ring.tend();
  expect(await kidsOf(ring)).toHaveLength(2);
});

test("a rotation is refused while another one is under way, and nothing changes", async () => {
  const ring = await open("assertion");
  const { key } = await ring.rotate();
  const before = await records.keyRings.findOne({ _id: "assertion" });
  await expect(ring.rotate()).rejects.toEqual(code(Code.FailedPrecondition));
  await expect(ring.rotate()).rejects.toThrow(`${key.kid} is published and signs from ${key.signsFrom.toISOString()}`);
  expect(await records.keyRings.findOne({ _id: "assertion" })).toEqual(before);
  now += 2 * HOUR;
  await ring.rotate();
});

describe("a revoked key", () => {
  test("that signed alone is followed at once by a new one, and nobody accepts it", async () => {
    const ring = await open("assertion");
    const other = await open("assertion");
    const [old, token] = [await signerOf(ring), await signed(ring)];
    await jwtVerify(token, other.verifier());
    await ring.revoke(old);
    for (const one of [ring, other]) {
      expect(await kidsOf(one)).toEqual([await signerOf(one)]);
      expect(await signerOf(one)).not.toBe(old);
      await expect(jwtVerify(token, one.verifier())).rejects.toThrow(errors.JWKSNoMatchingKey);
      await jwtVerify(await signed(ring), one.verifier());
    }
  });

  test("that signed while another waited is followed by that one at once", async () => {
    const ring = await open("assertion");
    const old = await signerOf(ring);
    const { key } = await ring.rotate();
    await ring.revoke(old);
    expect(await signerOf(ring)).toBe(key.kid);
    expect(await ring.list()).toMatchObject([
      { kid: key.kid, state: "signing", signsFrom: new Date(now), removeAt: null },
    ]);
  });

  test("that waited leaves the one that signs without an end", async () => {
    const ring = await open("assertion");
    const old = await signerOf(ring);
    const { key } = await ring.rotate();
    await ring.revoke(key.kid);
    expect(await ring.list()).toMatchObject([{ kid: old, state: "signing", removeAt: null }]);
    now += 10 * HOUR;
    await ring.tend();
    expect(await signerOf(ring)).toBe(old);
  });

  test("that is retiring leaves the others as they are; a retiring one never signs again", async () => {
    const ring = await open("assertion");
    const old = await signerOf(ring);
    const { key } = await ring.rotate();
    now += 2 * HOUR;
    await ring.revoke(key.kid);
    expect([old, key.kid]).not.toContain(await signerOf(ring));
    const signer = await signerOf(ring);
    await ring.revoke(old);
    expect(await kidsOf(ring)).toEqual([signer]);
  });

  test("may be revoked again; one that never was there is not found", async () => {
    const ring = await open("assertion");
    const old = await signerOf(ring);
    await ring.revoke(old);
    const after = await kidsOf(ring);
    await ring.revoke(old);
    expect(await kidsOf(ring)).toEqual(after);
    await expect(ring.revoke("nobody")).rejects.toEqual(code(Code.NotFound));
    await expect((await open("platform")).revoke(after[0] as string)).rejects.toEqual(code(Code.NotFound));
  });
});

test("a process whose clock is behind signs with the key that another made sign at once", async () => {
  const ring = await open("assertion");
  await ring.rotate();
  now += 3 * HOUR;
  await ring.revoke(await signerOf(ring));
  const signer = await signerOf(ring);
  now -= 5_000;
  expect(await signerOf(ring)).toBe(signer);
});

test("a record of each key, as versions before 0066 kept them, becomes a ring that signs as before", async () => {
  const { keys } = (await open("platform").then(() => records.keyRings.findOne({ _id: "platform" }))) as KeyRingRecord;
  const [{ signs_until: _, ...first }] = keys as [SigningKeyRecord];
  await records.keyRings.deleteMany({});
  const loose = { ...first, ring: "platform" as const };
  await open("platform");
  const second = (await records.keyRings.findOne({ _id: "platform" }))?.keys[0] as SigningKeyRecord;
  const { signs_until: __, ...next } = second;
  await records.keyRings.deleteMany({});
  // The older one without an end: the rotation broke off.
  await records.signingKeys.insertMany([loose, { ...next, ring: "platform", signs_from: new Date(now + HOUR) }]);
  const converted = await open("platform");
  expect(await converted.list()).toMatchObject([
    { kid: second._id, state: "published", removeAt: null },
    { kid: first._id, state: "signing", removeAt: new Date(now + 3 * HOUR) },
  ]);
  expect(await records.signingKeys.countDocuments({})).toBe(0);
  expect(await signerOf(converted)).toBe(first._id);
});

test("the private half lies sealed in the store, for its own key alone", async () => {
  const ring = await open("platform");
  await ring.rotate();
  const { keys } = (await records.keyRings.findOne({ _id: "platform" })) as KeyRingRecord;
  const [first, second] = keys as [SigningKeyRecord, SigningKeyRecord];
  expect(JSON.stringify(keys)).not.toMatch(/"d":/);
  const moved = [{ ...first, sealed: second.sealed }, second];
  await records.keyRings.updateOne({ _id: "platform" }, { $set: { keys: moved } });
  await expect(open("platform")).rejects.toThrow(/was changed after it was encrypted/);
});

test("keys that another sealing key sealed are sealed with the newest at the start, and sign as before", async () => {
  const [older, newer] = [Buffer.alloc(32, 7), Buffer.alloc(32, 8)];
  const running = await open("platform", createSeal([older]));
  const kid = await signerOf(running);
  const lost = open("platform", createSeal([newer]));
  await expect(lost).rejects.toThrow(/encrypted with another key: add that key .* signing-keys reset/);
  expect(await signerOf(await open("platform", createSeal([newer, older])))).toBe(kid);
  expect(await signerOf(await open("platform", createSeal([newer])))).toBe(kid);
  // What runs with the older sealing key goes on.
  expect(await signerOf(running)).toBe(kid);
});

test("without the sealing key, a ring that was emptied begins again, and the keys of before are revoked", async () => {
  const ring = await open("platform", createSeal([Buffer.alloc(32, 7)]));
  const [kid, token] = [await signerOf(ring), await signed(ring)];
  expect(await endSigningKeys(records)).toBe(1);
  const next = await open("platform", createSeal([Buffer.alloc(32, 8)]));
  expect(await kidsOf(next)).toEqual([await signerOf(next)]);
  await expect(jwtVerify(token, next.verifier())).rejects.toThrow(errors.JWKSNoMatchingKey);
  await next.revoke(kid);
  expect(await kidsOf(next)).toHaveLength(1);
});

test("while the store does not answer, a good signature is not called bad", async () => {
  let isAway = false;
  const keyRings = new Proxy(records.keyRings, {
    get(real, name) {
      if (name === "findOne" && isAway) return () => Promise.reject(new Error("no answer"));
      const member: unknown = Reflect.get(real, name);
      return typeof member === "function" ? member.bind(real) : member;
    },
  });
  const options = { leadMs: HOUR, graceMs: HOUR, rotateMs: 24 * HOUR, seal: SEAL };
  const ring = await openKeyRing({ ...records, keyRings }, "assertion", options);
  const token = await signed(ring);
  await expect(verifyOwn(token, ring, ["auth"])).rejects.toEqual(code(Code.Unauthenticated));
  isAway = true;
  await expect(verifyOwn(token, ring, ["auth"])).rejects.toEqual(code(Code.Unavailable));
});
