// One core for what is measured and the rest for what sends: on one core both
// would take each other's caches, and threads that wander cost time of their own.

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** The processors in a list such as 0-3,6. */
export function processorsIn(list: string): number[] {
  return list.split(",").flatMap((range) => {
    const [first = 0, last = first] = range.split("-").map(Number);
    return Array.from({ length: last - first + 1 }, (_, i) => first + i);
  });
}

const STATUS = "/proc/self/status";
const list = existsSync(STATUS) ? /^Cpus_allowed_list:\s+(\S+)$/m.exec(readFileSync(STATUS, "utf8"))?.[1] : undefined;
const allowed = processorsIn(list ?? "0");
const canPin = allowed.length > 1 && spawnSync("taskset", ["--version"]).status === 0;

/** A command that runs on the core of servers, if the machine can do that. */
export function onServersCore(command: readonly string[]): readonly string[] {
  return canPin ? ["taskset", "-c", String(allowed[0]), ...command] : command;
}

/** Keeps this process off the core of servers. */
export function leaveServersCore(): void {
  if (canPin) spawnSync("taskset", ["-a", "-c", "-p", allowed.slice(1).join(","), String(process.pid)]);
}

/** What a report says of it. */
export const PINNING = canPin
  ? `servers on processor ${allowed[0]}, the load on ${allowed.slice(1).join(", ")}`
  : "servers and load on the same processors";
