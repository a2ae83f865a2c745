import { existsSync, readFileSync } from "node:fs";

/** Why a test cannot see processes; undefined if it can. */
export const NO_PROC = existsSync("/proc/self/status") ? undefined : "the system has no /proc";

/** The façade workers that a process started. */
export function workersOf(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
  return children.filter((child) => readFileSync(`/proc/${child}/cmdline`, "utf8").includes("facade"));
}
