import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Step } from "./trace.js";

// What a disk may hold after the power went. Sure is what was synced, and what was written to a file that syncs each
// write. Of the rest nothing is there, some of it in any choice, or some of it torn between sectors. The names of
// files are taken to be there.

/** What becomes of bytes that no sync covers. */
export type Unsure = "lost" | "chosen" | "torn";

type Change = Extract<Step, { what: "written" | "cut" }>;

const SECTOR = 512;

/** A change of a file, and whether it is sure by now. */
interface Made {
  readonly change: Change;
  isSure: boolean;
}

/** The files after some steps, and what was said by then. */
export function imageAfter(
  steps: readonly Step[],
  unsure: Unsure,
  chance: () => number,
): { readonly files: ReadonlyMap<string, Buffer>; readonly said: readonly string[] } {
  const files = new Map<string, Buffer>();
  // In their order, from the first that is not sure on: a file that was cut and then written to is not cut afterwards.
  const open = new Map<string, Made[]>();
  const covered = new Map<number, readonly Made[]>();
  const said: string[] = [];
  for (const step of steps) {
    if (step.what === "said") said.push(step.line);
    else if (step.what === "removed") {
      files.delete(step.file);
      open.delete(step.file);
    } else {
      const made = open.get(step.file) ?? [];
      open.set(step.file, made);
      if (step.what === "sync begun") covered.set(step.sync, [...made]);
      else if (step.what === "sync ended") for (const one of covered.get(step.sync) ?? []) one.isSure = true;
      else made.push({ change: step, isSure: step.what === "written" && step.isSure });
      while (made[0]?.isSure) make(files, made.shift()!.change);
    }
  }
  for (const { change, isSure } of [...open.values()].flat()) {
    if (isSure) make(files, change);
    else if (unsure !== "lost" && chance() < 0.5) make(files, unsure === "torn" ? torn(change, chance) : change);
  }
  return { files, said };
}

/** Writes the files of an image into a folder. */
export function writeImage(files: ReadonlyMap<string, Buffer>, folder: string): void {
  for (const [file, bytes] of files) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    writeFileSync(join(folder, file), bytes);
  }
}

function make(files: Map<string, Buffer>, change: Change): void {
  const before = files.get(change.file) ?? Buffer.alloc(0);
  const end = change.what === "cut" ? change.length : Math.max(before.length, change.at + change.bytes.length);
  const after = Buffer.alloc(end);
  before.copy(after);
  if (change.what === "written") change.bytes.copy(after, change.at);
  files.set(change.file, after);
}

/** Its first sectors alone. */
function torn(change: Change, chance: () => number): Change {
  if (change.what === "cut") return change;
  const sectors = Math.floor(chance() * (Math.floor(change.bytes.length / SECTOR) + 1));
  return { ...change, bytes: change.bytes.subarray(0, sectors * SECTOR) };
}
