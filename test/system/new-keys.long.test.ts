import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listHeavily, putMany } from "../support/heavy-lists.js";
import { type Asker, createAsker, listToolsAtOnce, makeKeys, makeKeysOf } from "../support/new-keys.js";
import { type Program, startProgram } from "../support/program.js";

// A good key is never called bad. The bounded form of `test/hold/new-keys.ts`,
// which has five hundred keys and thousands of objects.

const KEYS = 60;
const OBJECTS = 320;
const LISTING_KEYS = 12;
const LISTING_MS = 3_000;

let program: Program;
let asker: Asker;
beforeAll(async () => {
  // Short leases: they run out while lists keep the process busy.
  program = await startProgram({ env: { LEASE_MS: "300" } });
  asker = createAsker(program);
});
afterAll(async () => {
  await asker?.close();
  await program?.stop();
});

test("keys that nobody has used yet are all served at once, from one address", async () => {
  const { refused } = await listToolsAtOnce(asker, await makeKeys(program, KEYS));
  expect(refused).toEqual([]);
});

test("beside long lists in parallel, under leases that run out, nobody is told that the key is bad", async () => {
  await putMany(program, OBJECTS);
  const keys = await makeKeysOf(program, program.bootstrap.admin.email, LISTING_KEYS);
  const enough = new AbortController();
  const listing = listHeavily(asker, keys, enough.signal);
  await sleep(LISTING_MS);
  enough.abort();
  const told = await listing;
  expect(told["200"]).toBeGreaterThan(0);
  expect(Object.keys(told).filter((what) => /^40[13]|revoked/.test(what))).toEqual([]);
});
