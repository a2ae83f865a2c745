// What a page of 50 costs among many against what it costs among 1,000, both
// in one run: `tsx --conditions=house:source test/bench/lists.ts`, with
// BENCH_MANY objects and BENCH_ROUNDS rounds, of those lists whose name holds
// BENCH_LISTS.

import { startWithMany } from "../services/core-objects/lists-of-many.js";

const FEW = 1_000;
const MANY = Number(process.env.BENCH_MANY ?? 100_000);
const ROUNDS = Number(process.env.BENCH_ROUNDS ?? 7);
const ONLY = process.env.BENCH_LISTS ?? "";

const few = await startWithMany(FEW);
const many = await startWithMany(MANY);

async function timed(list: () => Promise<unknown>): Promise<number> {
  const before = process.cpuUsage();
  await list();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

const median = (of: readonly number[]): number => [...of].sort((a, b) => a - b)[of.length >> 1]!;
const ms = (value: number): string => value.toFixed(1).padStart(9);

process.stdout.write(`${"list".padEnd(44)}${`ms of ${FEW}`.padStart(12)}${`ms of ${MANY}`.padStart(14)}    ratio\n`);
for (const [name, among] of Object.entries(few.lists)) {
  if (!name.includes(ONLY)) continue;
  const [a, b]: [number[], number[]] = [[], []];
  for (let round = 0; round < ROUNDS; round++) {
    a.push(await timed(among));
    b.push(await timed(many.lists[name]!));
  }
  process.stdout.write(`${name.padEnd(44)}${ms(median(a))}${ms(median(b))}   ${(median(b) / median(a)).toFixed(1)}\n`);
}
await few.rig.close();
await many.rig.close();
