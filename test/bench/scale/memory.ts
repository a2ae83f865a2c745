import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";

/** Memory of a process that is its own, in bytes: without the pages of files that it maps. */
export function ownBytesOf(pid: number): number {
  return statusOf(pid, "RssAnon") * 1_024;
}

/** All memory of a process that is resident, in bytes. */
export function residentBytesOf(pid: number): number {
  return statusOf(pid, "VmRSS") * 1_024;
}

function statusOf(pid: number, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
}

/** The bytes that a process has handed to disks so far. */
export function writtenBytesOf(pid: number): number {
  return Number(/^write_bytes: (\d+)/m.exec(readFileSync(`/proc/${pid}/io`, "utf8"))?.[1]);
}

/** The least of what is read over some seconds: what is left after garbage was collected. */
export async function settled(read: () => number, seconds = 5): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let i = 0; i < seconds * 4; i++) {
    least = Math.min(least, read());
    await sleep(250);
  }
  return least;
}
