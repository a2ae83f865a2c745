// npm run test:chaos [-- --schedules 20 --seconds 20 --at-once 2 --seed 1 --layout one --minutes 60]: random
// schedules of faults under load, against the built program in each of its layouts. A schedule is
// a seed: the same faults at the same times. The README of this folder says what must hold.

import { parseArgs } from "node:util";
import { Random } from "../fuzz/random.js";
import { LAYOUTS, type Layout, MISSING } from "./deployments.js";
import { runSchedule } from "./schedule.js";
import { noSmallDisk } from "./small-disk.js";

const { values } = parseArgs({
  options: {
    schedules: { type: "string", default: "20" },
    seconds: { type: "string", default: "20" },
    "at-once": { type: "string", default: "1" },
    seed: { type: "string", default: "1" },
    layout: { type: "string" },
    minutes: { type: "string", default: "120" },
  },
});
const [count, seconds, atOnce, first] = [values.schedules, values.seconds, values["at-once"], values.seed].map(
  Number,
) as [number, number, number, number];
const until = Date.now() + Number(values.minutes) * 60_000;
const layouts = LAYOUTS.filter((one) => MISSING[one] === undefined && (values.layout ?? one) === one);

for (const reason of Object.values(MISSING)) console.log(`skipped: ${reason}`);
if (noSmallDisk !== undefined) console.log(`skipped: a full disk: ${noSmallDisk}`);
console.log("skipped: a read-only disk, a slow disk, a jump of the clock: no way without help from the system");

const total = { schedules: 0, failed: 0, faults: 0, requests: 0, writes: 0, runs: 0, revoked: 0 };
let next = first;
const lanes = Array.from({ length: atOnce }, async () => {
  while (next < first + count && Date.now() < until) await one(next++);
});
await Promise.all(lanes);
console.log(
  Object.entries(total)
    .map(([what, much]) => `${much} ${what}`)
    .join(", "),
);
process.exit(total.failed === 0 ? 0 : 1);

async function one(seed: number): Promise<void> {
  const random = new Random(seed);
  const layout = layouts[seed % layouts.length] as Layout;
  const report = await runSchedule(layout, random, seconds * 1_000);
  total.schedules++;
  total.faults += report.faults.length;
  for (const figure of ["requests", "writes", "runs", "revoked"] as const) total[figure] += report[figure];
  if (report.problems.length > 0) total.failed++;
  const { requests, writes, runs, revoked, mostMiB } = report;
  console.log(
    `seed ${seed}, ${layout}: ${report.faults.length} faults, ${requests} requests (${report.answers}), ${writes} writes, ${runs} runs, ${revoked} keys revoked, ${mostMiB} MiB: ${report.problems.length === 0 ? "holds" : "DOES NOT HOLD"}`,
  );
  if (report.problems.length === 0) return;
  for (const fault of report.faults) console.log(`    ${fault}`);
  for (const problem of report.problems.slice(0, 12)) console.log(`  ! ${problem}`);
  console.log(`  again: npm run test:chaos -- --schedules 1 --seed ${seed} --seconds ${seconds} --layout ${layout}`);
}
