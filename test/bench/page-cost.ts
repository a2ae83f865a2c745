// What a page of one row costs among 100,000 in milliseconds of CPU, as the
// services spend it: `tsx --conditions=house:source test/bench/page-cost.ts`,
// with BENCH_MANY records and BENCH_CALLS calls of each list.

import { startPages } from "../services/core-objects/pages-of-one.js";

const MANY = Number(process.env.BENCH_MANY ?? 100_000);
const CALLS = Number(process.env.BENCH_CALLS ?? 100);

const { lists, close } = await startPages(MANY);
process.stdout.write(`${"page_size 1".padEnd(44)}ms of CPU a call\n`);
for (const [name, list] of Object.entries(lists)) {
  for (let i = 0; i < CALLS; i++) await list();
  const before = process.cpuUsage();
  for (let i = 0; i < CALLS; i++) await list();
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(`${name.padEnd(44)}${((user + system) / 1_000 / CALLS).toFixed(3).padStart(9)}\n`);
}
await close();
process.exit(0);
