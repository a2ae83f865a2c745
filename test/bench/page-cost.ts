// What a first page costs among 100,000 in milliseconds of CPU, as the services
// spend it: `npm run compile && node build/test/bench/page-cost.js`, with
// BENCH_MANY records, pages of BENCH_ROWS, BENCH_CALLS calls of each list that
// are measured and BENCH_WARM before them, of those lists whose name holds
// BENCH_LISTS.

import { startPages } from "../services/core-objects/first-pages.js";

const MANY = Number(process.env.BENCH_MANY ?? 100_000);
const ROWS = Number(process.env.BENCH_ROWS ?? 1);
const CALLS = Number(process.env.BENCH_CALLS ?? 1_000);
const WARM = Number(process.env.BENCH_WARM ?? CALLS);
const ONLY = process.env.BENCH_LISTS ?? "";

const { lists, close } = await startPages(MANY, ROWS);
process.stdout.write(`${`page_size ${ROWS} of ${MANY}`.padEnd(52)}ms of CPU a call\n`);
for (const [name, list] of Object.entries(lists)) {
  if (!name.includes(ONLY)) continue;
  for (let i = 0; i < WARM; i++) await list();
  const before = process.cpuUsage();
  for (let i = 0; i < CALLS; i++) await list();
  const { user, system } = process.cpuUsage(before);
  process.stdout.write(`${name.padEnd(52)}${((user + system) / 1_000 / CALLS).toFixed(3).padStart(9)}\n`);
}
await close();
process.exit(0);
