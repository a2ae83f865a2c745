// Prints how many bytes of 10,000 objects, which are garbage at once, are allocated among the old, after many others from
// the same place outlived collections.

import { getHeapSpaceStatistics } from "node:v8";
import { allocateAsNew } from "../../../../services/shared/process/new-objects.js";

if (process.argv[2] === "as new") allocateAsNew();

const collect = (globalThis as unknown as { readonly gc: () => void }).gc;
const made = (i: number): { readonly i: number; readonly inner: object } => ({ i, inner: { i } });

function survivors(): object[] {
  const kept: object[] = [];
  for (let i = 0; i < 30_000; i++) kept.push(made(i));
  return kept;
}

/** Each is kept for a moment, so that it is made at all. */
function garbage(): void {
  const last: object[] = [];
  for (let i = 0; i < 10_000; i++) last[i % 8] = made(i);
}

const oldBytes = (): number =>
  getHeapSpaceStatistics().find(({ space_name }) => space_name === "old_space")?.space_used_size ?? Number.NaN;

const grew: number[] = [];
for (let round = 0; round < 300; round++) {
  survivors();
  if (round < 200 || round % 10 !== 0) continue;
  collect();
  const before = oldBytes();
  garbage();
  grew.push(oldBytes() - before);
}
grew.sort((a, b) => a - b);
process.stdout.write(String(grew[grew.length >> 1]));
