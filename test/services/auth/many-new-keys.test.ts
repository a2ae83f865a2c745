import { createHash } from "node:crypto";
import { hash } from "bcrypt";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { type Credentials, createCredentials } from "../../../services/shared/credentials/credentials.js";
import { createKeyFormat } from "../../../services/shared/credentials/format.js";
import { silentLog } from "../../../services/shared/process/log.js";
import { type Stack, startStack } from "./stack.js";

const COUNT = 500;

let stack: Stack;
let credentials: Credentials;
beforeAll(async () => {
  stack = await startStack();
  credentials = createCredentials({
    dispatch: stack.dispatch,
    credential: { authorization: `Bearer ${stack.secrets.serviceKey}` },
    log: silentLog,
  });
  await vi.waitFor(() => expect(credentials.leased()).toBe(true), { interval: 5, timeout: 10_000 });
});
afterAll(async () => {
  await credentials.close();
  await stack.close();
});

/** Keys that this process has never seen: their first verification is a bcrypt each, here of the least cost. */
async function newKeys(): Promise<readonly string[]> {
  const format = createKeyFormat("slp_");
  const user = await stack.records.users.findOne({ login: "analyst@example.org" });
  const minted = Array.from({ length: COUNT }, () => format.mint());
  const hashes = await Promise.all(minted.map(({ secret }) => hash(secret, 4)));
  await stack.records.keys.insertMany(
    minted.map(({ keyId, secret }, i) => ({
      _id: keyId,
      user_id: user?._id as string,
      serial: keyId,
      name: keyId,
      hash: hashes[i] as string,
      check: createHash("sha256").update(secret).digest("hex").slice(0, 8),
      scopes: null,
      created_at: new Date(),
      expires_at: null,
      revoked_at: null,
      last_used_at: null,
      uses: 0,
    })),
  );
  return minted.map(({ token }) => token);
}

// How long it may take is the deadline that verifications have, 20 s.
test("500 new keys at once are all known in time: nobody is turned away, and nobody called bad", async () => {
  const tokens = await newKeys();
  const answers = await Promise.all(tokens.map((token) => credentials.verify(token)));
  const refused = answers.flatMap((answer) => ("refused" in answer ? [answer.refused] : []));
  expect(refused).toEqual([]);
});
