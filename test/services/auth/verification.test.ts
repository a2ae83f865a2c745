import { Code } from "@connectrpc/connect";
import { hash } from "bcrypt";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { createKeyVerification, hashSecret } from "../../../services/auth/verification.js";
import { createKeyFormat } from "../../../services/shared/credentials/format.js";
import { createWorkLimit } from "../../../services/shared/limits/work-limit.js";
import { type Stack, startStack } from "./stack.js";

const format = createKeyFormat("slp_");
let stack: Stack;
let minted: ReturnType<typeof format.mint>;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.close());

/** A key whose bcrypt takes about a third of a second, so that something can happen meanwhile. */
beforeEach(async () => {
  minted = format.mint();
  const user = await stack.records.users.findOne({ login: "analyst@example.org" });
  await stack.records.keys.insertOne({
    _id: minted.keyId,
    user_id: user?._id as string,
    serial: minted.keyId,
    name: "Slow",
    ...(await hashSecret(minted.secret)),
    hash: await hash(minted.secret, 12),
    scopes: null,
    created_at: new Date(),
    expires_at: null,
    revoked_at: null,
    last_used_at: null,
    uses: 0,
  });
});

const verificationWith = (running: number, waiting: number) =>
  createKeyVerification(stack.records, format, createWorkLimit(running, waiting), () => 0);

describe("verifying a key", () => {
  test("refuses one that was revoked while its secret was being checked", async () => {
    const verified = verificationWith(1, 1).verify(minted.token);
    await stack.records.keys.updateOne({ _id: minted.keyId }, { $set: { revoked_at: new Date() } });
    expect(await verified).toMatchObject({ refused: "revoked" });
  });

  test("costs one bcrypt for all who come together, and none for those who come later", async () => {
    // With nobody allowed to wait, a second bcrypt at the same time would be refused.
    const verification = verificationWith(1, 0);
    const together = await Promise.all(Array.from({ length: 20 }, () => verification.verify(minted.token)));
    expect(together.filter((answer) => "refused" in answer)).toEqual([]);
    await stack.records.keys.updateOne({ _id: minted.keyId }, { $set: { hash: "no longer read" } });
    expect(await verification.verify(minted.token)).toMatchObject({ key: { _id: minted.keyId } });
  });

  test("is not a refusal, and not remembered as one, where too many are waiting", async () => {
    const limit = createWorkLimit(1, 0);
    const verification = createKeyVerification(stack.records, format, limit, () => 0);
    let finish: (() => void) | undefined;
    const busy = limit.run(
      () =>
        new Promise<void>((resolve) => {
          finish = resolve;
        }),
    );
    await expect(verification.verify(minted.token)).rejects.toMatchObject({ code: Code.Unavailable });
    finish?.();
    await busy;
    expect(await verification.verify(minted.token)).toMatchObject({ key: { _id: minted.keyId } });
  });
});

test("a work limit runs so many at once, lets so many wait, and gives a place back after a failure", async () => {
  const limit = createWorkLimit(2, 1);
  const finish: (() => void)[] = [];
  const work = () => new Promise<void>((_, reject) => finish.push(() => reject(new Error("failed"))));
  const runs = [limit.run(work), limit.run(work), limit.run(work)];
  for (const run of runs) run.catch(() => undefined);
  await expect(limit.run(work)).rejects.toThrow(/too many calls of this kind/);
  await expect.poll(() => finish).toHaveLength(2);
  finish[0]?.();
  await expect(runs[0]).rejects.toThrow("failed");
  await expect.poll(() => finish).toHaveLength(3);
  finish[1]?.();
  finish[2]?.();
  await Promise.allSettled(runs);
  expect(await limit.run(async () => "free")).toBe("free");
});
