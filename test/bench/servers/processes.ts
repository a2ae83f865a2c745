// What processes used, as Linux counts it: a server's own figures would leave
// out its workers, and a server in another language has none that compare.

import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";

/** Microseconds of one tick, in which the kernel counts. */
const TICK_US = 1_000_000 / Number(execFileSync("getconf", ["CLK_TCK"], { encoding: "utf8" }));

/** The parent and the ticks of a process, from its line in /proc. */
export function readStat(line: string): { readonly parent: number; readonly ticks: number } {
  // The name before it is in parentheses and may hold anything.
  const fields = line.slice(line.lastIndexOf(")") + 2).split(" ");
  return { parent: Number(fields[1]), ticks: Number(fields[11]) + Number(fields[12]) };
}

function statOf(pid: number): ReturnType<typeof readStat> | undefined {
  try {
    return readStat(readFileSync(`/proc/${pid}/stat`, "utf8"));
  } catch {
    // It has ended.
    return undefined;
  }
}

/** Processes and all that descend from them. */
export function familyOf(...roots: readonly number[]): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync("/proc")) {
    const parent = /^\d+$/.test(name) ? statOf(Number(name))?.parent : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const family = [...roots];
  for (const pid of family) family.push(...(children.get(pid) ?? []));
  return family;
}

/** The CPU time that processes and their descendants have used so far, in microseconds. */
export function cpuMicroseconds(...roots: readonly number[]): number {
  return familyOf(...roots).reduce((sum, pid) => sum + (statOf(pid)?.ticks ?? 0), 0) * TICK_US;
}

/** The memory of processes and their descendants, in megabytes; pages that they share count once. */
export function megabytesOf(...roots: readonly number[]): number {
  const kilobytes = familyOf(...roots).map((pid) => {
    try {
      return Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "utf8"))?.[1] ?? 0);
    } catch {
      return 0;
    }
  });
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1_024;
}
