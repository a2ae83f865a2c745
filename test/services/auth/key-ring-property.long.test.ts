import { Code, ConnectError } from "@connectrpc/connect";
import { errors, jwtVerify, SignJWT } from "jose";
import { describe, expect, test } from "vitest";
import { type KeyRing, openKeyRing } from "../../../services/auth/key-ring.js";
import { openAuthStore } from "../../../services/auth/store.js";
import { randomOf } from "../../support/random.js";
import { titled } from "../../support/titled.js";
import { backends } from "../shared/store/backends.js";
import { SEAL } from "./stack.js";

const MINUTE = 60_000;
const [LEAD, GRACE, ROTATE] = [10 * MINUTE, 20 * MINUTE, 120 * MINUTE];
/** How long what is signed lives. */
const LIFE = 5 * MINUTE;
const PROCESSES = 3;

interface Signed {
  readonly kid: string;
  readonly token: string;
  readonly until: number;
}

describe.each(backends)("processes with one ring, on $title", ({ open, missing }) => {
  test.skipIf(missing !== undefined).each([1, 2, 3, 4])(
    titled("in any order of steps there is one signer that everybody knew before (seed %i)", missing),
    async (seed) => {
      const { store, close } = await open();
      try {
        const next = randomOf(seed);
        const pick = <T>(from: readonly T[]): T => from[Math.floor(next() * from.length)] as T;
        let now = Date.UTC(2030, 0, 1);
        const records = await openAuthStore(store);
        const options = { leadMs: LEAD, graceMs: GRACE, rotateMs: ROTATE, seal: SEAL, now: () => now };
        const rings = await Promise.all(
          Array.from({ length: PROCESSES }, () => openKeyRing(records, "assertion", options)),
        );
        /** When each key was first published, by its id, and the ids of those revoked. */
        const publishedAt = new Map<string, number>();
        const revoked = new Set<string>();
        let signed: Signed[] = [];
        let excused: string | undefined = (await (rings[0] as KeyRing).signer()).kid;
        let rotations = 0;

        const check = async (): Promise<void> => {
          const listed = await Promise.all(rings.map((ring) => ring.list()));
          for (const one of listed) expect(one).toEqual(listed[0]);
          const [signer, ...others] = (listed[0] ?? []).filter(({ state }) => state === "signing");
          expect(others).toEqual([]);
          for (const { kid } of listed[0] ?? []) {
            if (!publishedAt.has(kid)) publishedAt.set(kid, now);
            expect(revoked).not.toContain(kid);
          }
          const kids = await Promise.all(rings.map(async (ring) => (await ring.signer()).kid));
          expect(new Set(kids)).toEqual(new Set([signer?.kid]));
          const kid = signer?.kid as string;
          if (kid !== excused) expect(now - (publishedAt.get(kid) as number)).toBeGreaterThanOrEqual(LEAD);
          signed = signed.filter(({ until }) => until > now);
          for (const one of signed) {
            const verified = jwtVerify(one.token, pick(rings).verifier(), { currentDate: new Date(now) });
            if (revoked.has(one.kid)) await expect(verified).rejects.toThrow(errors.JWKSNoMatchingKey);
            else await verified;
          }
          const by = await pick(rings).signer();
          const token = await new SignJWT({}).setProtectedHeader({ alg: "EdDSA", kid: by.kid }).sign(by.key);
          signed.push({ kid: by.kid, token, until: now + LIFE });
        };

        const rotate = async (ring: KeyRing): Promise<void> => {
          try {
            await ring.rotate();
            rotations++;
          } catch (error) {
            expect(ConnectError.from(error).code).toBe(Code.FailedPrecondition);
          }
        };

        for (let step = 0; step < 150; step++) {
          const what = next();
          if (what < 0.35) now += Math.floor(next() * 6 * MINUTE);
          else if (what < 0.55) await pick(rings).tend();
          else if (what < 0.7) await rotate(pick(rings));
          // All at the same moment.
          else if (what < 0.8) await Promise.all(rings.flatMap((ring) => [rotate(ring), ring.tend()]));
          else {
            const { kid } = pick(await pick(rings).list());
            const together = next() < 0.5 ? rings : [pick(rings)];
            await Promise.all([
              ...together.map((ring) => ring.revoke(kid)),
              ...(next() < 0.5 ? [rotate(pick(rings))] : []),
            ]);
            revoked.add(kid);
            const signer = (await pick(rings).signer()).kid;
            if (signer !== excused) excused = signer;
          }
          await check();
        }
        expect(rotations).toBeGreaterThan(5);
        expect(revoked.size).toBeGreaterThan(10);
      } finally {
        await close();
      }
    },
    60_000,
  );

  test.skipIf(missing !== undefined)(
    titled("of rotations at the same moment one is done, the others are refused", missing),
    async () => {
      const { store, close } = await open();
      try {
        const records = await openAuthStore(store);
        const options = { leadMs: LEAD, graceMs: GRACE, rotateMs: ROTATE, seal: SEAL };
        const rings = await Promise.all(Array.from({ length: 6 }, () => openKeyRing(records, "assertion", options)));
        const done = await Promise.allSettled(rings.map((ring) => ring.rotate()));
        expect(done.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
        for (const one of done)
          if (one.status === "rejected") expect(ConnectError.from(one.reason).code).toBe(Code.FailedPrecondition);
        expect(await (rings[0] as KeyRing).list()).toHaveLength(2);
      } finally {
        await close();
      }
    },
  );
});
