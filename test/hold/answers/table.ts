import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import type { Beside, Noticed } from "./steady.js";

const MAX_P99_MS = 250;
/** What good callers must never hear: their keys are good, and the service is there. */
const UNHEARD = /does not answer|vouch/i;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Begins the table. */
export function printHead(): void {
  print("| attack | good calls | failed | p99 ms | quiet p99 ms | longest ms | memory MiB | what its user is told |");
  print("|---|--:|--:|--:|--:|--:|--:|---|");
}

/** Prints a line of the table. @returns whether the attack left other callers alone. */
export function printRow(name: string, { noticed, said }: Beside, quiet: Noticed, memory: number): boolean {
  const { calls, failures, p99, longest, again } = noticed;
  const isSlow = p99 > Math.max(MAX_P99_MS, 3 * quiet.p99);
  const holds = failures.length === 0 && !isSlow && !(said instanceof Error);
  const told = String(said instanceof Error ? said.message : said).replace(/\s+/g, " ");
  const row = [
    name + (holds ? "" : " **does not hold**"),
    ...[calls, failures.length, p99.toFixed(1), quiet.p99.toFixed(1), longest.toFixed(1), memory.toFixed(0)],
    told.slice(0, 300).replaceAll("|", "\\|"),
  ];
  print(`| ${row.join(" | ")} |`);
  if (again > 0) print(`  ${again} sent again: an idle connection was closed as they were sent`);
  const unheard = failures.filter((failure) => UNHEARD.test(failure));
  for (const failure of [...new Set([...unheard, ...failures])].slice(0, 3)) print(`  ${failure}`);
  return holds;
}

/** Memory of a process and of all that it started, in MiB; what they share counts once, where Linux says it (proc(5), smaps_rollup). */
export function memoryOf(pid: number | undefined): number {
  const { stdout } = spawnSync("ps", ["-e", "-o", "pid=,ppid=,rss="], { encoding: "utf8" });
  const all = stdout.split("\n").map((line) => line.trim().split(/\s+/).map(Number) as [number, number, number]);
  const withChildren = (id: number): number =>
    all.reduce(
      (sum, [own, parent, rss]) => sum + (own === id ? (shareOf(own) ?? rss) : parent === id ? withChildren(own) : 0),
      0,
    );
  return withChildren(pid ?? 0) / 1024;
}

/** In KiB; undefined for one that has ended. */
function shareOf(pid: number): number | undefined {
  try {
    const [, kib] = /^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, "latin1")) ?? [];
    return kib === undefined ? undefined : Number(kib);
  } catch {
    return undefined;
  }
}
