// npm run test:worst: the worst values that the API's own bounds allow, for every
// tool and every rpc of people, one call at a time against the built program. None
// may keep the loop that serves everybody for 50 ms.
//
//   npm run test:worst -- core/           only what has this in its name
//   WORST_CASES=20 npm run test:worst     so many cases of each request, by chance (WORST_SEED)
//   WORST_ROWS=50 npm run test:worst      so many rows of the table

import { measureExports } from "./exports.js";
import { isFault, type Measured, MOST_LOOP_MS, measureWorst } from "./measure.js";
import { openStage } from "./stage.js";

const ROWS = Number(process.env.WORST_ROWS ?? 10);

/** So many cases of each request, by chance; all where left out. */
const CASES = process.env.WORST_CASES;
const SEED = Number(process.env.WORST_SEED ?? 1);
const names = new RegExp(process.argv[2] ?? "");
const sample = CASES === undefined ? undefined : { cases: Number(CASES), seed: SEED };

const stage = await openStage();
const all: Measured[] = [];
const codes = new Map<string, number>();
try {
  for await (const one of measured()) {
    all.push({ ...one, answer: { ...one.answer, result: undefined } });
    codes.set(one.answer.code, (codes.get(one.answer.code) ?? 0) + 1);
    if (one.loopMs > MOST_LOOP_MS || isFault(one.answer)) console.error(rowOf(one), one.answer.said.slice(0, 200));
  }
} finally {
  await stage.close();
}
const dearest = all.toSorted((a, b) => b.loopMs - a.loopMs);
const faults = all.filter(({ answer }) => isFault(answer));
const dear = dearest.filter(({ loopMs }) => loopMs > MOST_LOOP_MS);
const isPast = ({ answer, sent }: Measured): boolean => answer.code === "ok" || sent > 0;
const told = [...codes].map(([code, count]) => `${count} ${code}`).join(", ");
console.log(`${all.length} calls of ${new Set(all.map(({ name }) => name)).size} tools and rpcs: ${told}\n`);
for (const [server, calls] of by(({ name }) => name.split(/[./]/)[0]!)) {
  const answered = calls.filter(({ answer }) => answer.code === "ok").length;
  const past = calls.filter(isPast).length - answered;
  console.log(`${server}: ${calls.length} calls, ${answered} answered, ${past} refused after others were asked`);
}
const never = [...by(({ name }) => name)].filter(([, calls]) => !calls.some(isPast)).map(([name]) => name);
console.log(`\nEvery call refused, and nobody else asked: ${never.join(", ") || "of no tool"}\n`);
console.log("| tool | field | value | answer | loop ms | stall ms | memory MiB | disk KiB |");
console.log("|---|---|---|---|--:|--:|--:|--:|");
for (const one of dearest.slice(0, ROWS)) console.log(rowOf(one));
console.log("\nThe most on disk:\n");
for (const one of all.toSorted((a, b) => b.diskKiB - a.diskKiB).slice(0, ROWS)) console.log(rowOf(one));
if (dear.length > 0)
  console.log(`\n${dear.length} calls take more than ${MOST_LOOP_MS} ms of the loop that serves everybody.`);
if (faults.length > 0) console.log(`\n${faults.length} calls end in a fault of ours.`);
process.exit(dear.length + faults.length === 0 ? 0 : 1);

async function* measured(): AsyncIterable<Measured> {
  yield* measureWorst(stage, { names, ...(sample && { sample }) });
  yield* measureExports(stage, names);
}

function by(keyOf: (one: Measured) => string): Map<string, Measured[]> {
  const groups = new Map<string, Measured[]>();
  for (const one of all) groups.set(keyOf(one), [...(groups.get(keyOf(one)) ?? []), one]);
  return groups;
}

function rowOf({ name, field, kind, answer, loopMs, stallMs, memoryMiB, diskKiB }: Measured): string {
  const figures = [loopMs.toFixed(1), stallMs.toFixed(0), memoryMiB.toFixed(1), diskKiB.toFixed(0)];
  return `| ${[name, field, kind, answer.code, ...figures].join(" | ")} |`;
}
