import { spawnSync } from "node:child_process";
import type { Beside, Noticed } from "./steady.js";

const MAX_P99_MS = 250;
/** What good callers must never hear: their keys are good, and the service is there. */
const UNHEARD = /does not answer|vouch/i;

const print = (line: string): void => void process.stdout.write(`${line}\n`);

/** Begins the table. */
export function printHead(): void {
  print("| attack | good calls | failed | p99 ms | quiet p99 ms | longest ms | RSS MiB | what its user is told |");
  print("|---|--:|--:|--:|--:|--:|--:|---|");
}

/** Prints a line of the table. @returns whether the attack left other callers alone. */
export function printRow(name: string, { noticed, said }: Beside, quiet: Noticed, rss: number): boolean {
  const { calls, failures, p99, longest } = noticed;
  const isSlow = p99 > Math.max(MAX_P99_MS, 3 * quiet.p99);
  const holds = failures.length === 0 && !isSlow && !(said instanceof Error);
  const told = String(said instanceof Error ? said.message : said).replace(/\s+/g, " ");
  const row = [
    name + (holds ? "" : " **does not hold**"),
    ...[calls, failures.length, p99.toFixed(1), quiet.p99.toFixed(1), longest.toFixed(1), rss.toFixed(0)],
    told.slice(0, 300).replaceAll("|", "\\|"),
  ];
  print(`| ${row.join(" | ")} |`);
  const unheard = failures.filter((failure) => UNHEARD.test(failure));
  for (const failure of [...new Set([...unheard, ...failures])].slice(0, 3)) print(`  ${failure}`);
  return holds;
}

/** Memory of a process, in MiB. */
export function rssOf(pid: number | undefined): number {
  return Number(spawnSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }).stdout) / 1024;
}
