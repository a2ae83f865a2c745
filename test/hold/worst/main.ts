// npm run test:worst: the worst values that the API's own bounds allow, for every
// tool and every rpc of people, one call at a time against the built program, by
// every door that it comes in by. None may keep the loop that serves everybody
// for 50 ms, and what they leave must be counted.
//
//   npm run test:worst -- core/           only what has this in its name
//   WORST_DOORS=mcp,grpc npm run test:worst   of mcp, rpc, grpc and connect
//   WORST_CASES=20 npm run test:worst     20 cases of each request, by chance (WORST_SEED)
//   WORST_ROWS=50 npm run test:worst      50 rows of the table

import { accountsOf, countedNow, faultsIn } from "./accounts.js";
import { type Door, Doors } from "./doors.js";
import { measureExports } from "./exports.js";
import { isDear, isFault, isWork, type Measured, MOST_LOOP_MS, measureWorst } from "./measure.js";
import { openStage } from "./stage.js";

const ROWS = Number(process.env.WORST_ROWS ?? 10);

/** How many cases of each request, by chance; all if left out. */
const CASES = process.env.WORST_CASES;
const SEED = Number(process.env.WORST_SEED ?? 1);
const DOORS = process.env.WORST_DOORS;
const names = new RegExp(process.argv[2] ?? "");
const wanted = {
  names,
  ...(CASES !== undefined && { sample: { cases: Number(CASES), seed: SEED } }),
  ...(DOORS !== undefined && { doors: new Set(DOORS.split(",") as Door[]) }),
};

const stage = await openStage();
const all: Measured[] = [];
const untrue: string[] = [];
try {
  for await (const one of measured()) {
    all.push({ ...one, answer: { ...one.answer, result: undefined } });
    if (isDear(one) || isFault(one.answer)) console.error(rowOf(one), one.answer.said.slice(0, 200));
  }
  const counted = await countedNow(new Doors(stage.program));
  await stage.end();
  const accounts = await accountsOf(stage.program.dataDir, counted);
  console.log("| what is kept | counted bytes | stored bytes | records |\n|---|--:|--:|--:|");
  for (const { name, counted: bytes = "", stored } of accounts)
    console.log(`| ${[name, bytes, stored.bytes, stored.records].join(" | ")} |`);
  untrue.push(...faultsIn(accounts, counted, all.length));
} finally {
  await stage.close();
}

const dearest = all.toSorted((a, b) => b.loopMs - a.loopMs);
const faults = all.filter(({ answer }) => isFault(answer));
const dear = dearest.filter((one) => isDear(one));
const codes = grouped(({ answer }) => answer.code);
const told = [...codes].map(([code, calls]) => `${calls.length} ${code}`).join(", ");
const tools = grouped(({ name }) => name);
console.log(`\n${all.length} calls of ${tools.size} tools and rpcs: ${told}\n`);

console.log("| tool | calls | answered | refused by its own work |\n|---|--:|--:|--:|");
for (const [name, calls] of tools) {
  const answered = calls.filter(({ answer }) => answer.code === "ok").length;
  const worked = calls.filter(({ answer, sent }) => isWork(answer) || sent > 0).length;
  console.log(`| ${[name, calls.length, answered, worked - answered].join(" | ")} |`);
}
const never = [...tools].filter(([, calls]) => calls.every(({ answer }) => answer.code !== "ok")).map(([name]) => name);
if (never.length > 0) console.log(`\nNo call is answered of ${never.join(", ")}.`);

console.log("\n| tool | door | field | value | answer | loop ms | stall ms | memory MiB | disk KiB |");
console.log("|---|---|---|---|---|--:|--:|--:|--:|");
for (const one of dearest.slice(0, ROWS)) console.log(rowOf(one));
console.log("\nThe most on disk:\n");
for (const one of all.toSorted((a, b) => b.diskKiB - a.diskKiB).slice(0, ROWS)) console.log(rowOf(one));
if (dear.length > 0)
  console.log(`\n${dear.length} calls take more than ${MOST_LOOP_MS} ms of the loop that serves everybody.`);
if (faults.length > 0) console.log(`\n${faults.length} calls end in a fault of ours.`);
for (const line of untrue) console.log(`\nThe count is not true: ${line}`);
process.exit(dear.length + faults.length + untrue.length === 0 ? 0 : 1);

async function* measured(): AsyncIterable<Measured> {
  yield* measureWorst(stage, wanted);
  yield* measureExports(stage, names);
}

function grouped(by: (one: Measured) => string): Map<string, Measured[]> {
  const groups = new Map<string, Measured[]>();
  for (const one of all) groups.set(by(one), [...(groups.get(by(one)) ?? []), one]);
  return groups;
}

function rowOf({ name, door, field, kind, answer, loopMs, stallMs, memoryMiB, diskKiB }: Measured): string {
  const figures = [loopMs.toFixed(1), stallMs.toFixed(0), memoryMiB.toFixed(1), diskKiB.toFixed(0)];
  return `| ${[name, door, field, kind, answer.code, ...figures].join(" | ")} |`;
}
