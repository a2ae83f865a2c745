// Five hundred keys that nobody has used yet, each in a request of its own, all
// at once: every answer is 200, within 20 seconds. Then the longest lists of
// thousands of objects, by many keys at once and under leases of a tenth of a
// second, which run out meanwhile: nobody is told that a good key is bad.
//
//   node --import tsx --conditions=house:source test/hold/new-keys.ts

import { setTimeout as sleep } from "node:timers/promises";
import { listHeavily, putMany } from "../support/heavy-lists.js";
import { createAsker, listToolsAtOnce, makeKeys, makeKeysOf } from "../support/new-keys.js";
import { startProgram } from "../support/program.js";

const KEYS = Number(process.env.HOLD_KEYS ?? 500);
const OBJECTS = Number(process.env.HOLD_OBJECTS ?? 3_000);
const SECONDS = Number(process.env.HOLD_SECONDS ?? 10);
const MAX_MS = 20_000;
const LISTING_KEYS = 32;
/** What is shown is not rates. */
const ANY_RATE = Object.fromEntries(
  ["CALLS_PER_SECOND", "CALL_BURST", "USER_CALLS_PER_SECOND", "USER_CALL_BURST"].map((name) => [name, "1000000"]),
);

const say = (line: string): boolean => process.stdout.write(`${line}\n`);

async function newKeysAtOnce(workers: number): Promise<boolean> {
  const program = await startProgram({ env: { WORKERS: String(workers) } });
  try {
    const keys = await makeKeys(program, KEYS);
    const asker = createAsker(program);
    const { refused, ms } = await listToolsAtOnce(asker, keys);
    await asker.close();
    say(`| ${KEYS} new keys at once | ${workers} | ${refused.length} refused | ${(ms / 1_000).toFixed(1)} s |`);
    for (const what of new Set(refused)) say(`  ${what}`);
    return refused.length === 0 && ms < MAX_MS;
  } finally {
    await program.stop();
  }
}

async function heavyLists(workers: number): Promise<boolean> {
  const program = await startProgram({ env: { WORKERS: String(workers), LEASE_MS: "100", ...ANY_RATE } });
  try {
    await putMany(program, OBJECTS);
    const keys = await makeKeysOf(program, program.bootstrap.admin.email, LISTING_KEYS);
    const asker = createAsker(program);
    const enough = new AbortController();
    const listing = listHeavily(asker, keys, enough.signal);
    await sleep(SECONDS * 1_000);
    enough.abort();
    const told = await listing;
    await asker.close();
    say(`| lists of ${OBJECTS}, ${keys.length} keys | ${workers} | | ${SECONDS} s |`);
    for (const [what, count] of Object.entries(told)) say(`  ${what} × ${count}`);
    return (told["200"] ?? 0) > 0 && !Object.keys(told).some((what) => /^40[13]|revoked/.test(what));
  } finally {
    await program.stop();
  }
}

say("| what | workers | refused | time |\n|---|--:|--:|--:|");
let held = true;
for (const workers of [1, 2]) {
  held = (await newKeysAtOnce(workers)) && held;
  held = (await heavyLists(workers)) && held;
}
process.exit(held ? 0 : 1);
