// The process that starts processes. To start one, the system copies the tables of the
// memory of who starts it, who stands still meanwhile: 30 milliseconds where the serving
// process has 350 MB, 200 where it has 2 GB, and 2 here. It also watches what it started.

import { type ChildProcess, fork } from "node:child_process";
import { writeFileSync } from "node:fs";
import { setPriority } from "node:os";
import { fileURLToPath } from "node:url";
import type { Answered, Bound, Ending, Ready } from "./asked.js";
import type { ProcessBounds, ToStarter } from "./processes.js";
import { outliveSignals, startFlags } from "./start-flags.js";
import { usageOf } from "./usage.js";

/** As `nice` counts: 0 is usual, 19 the lowest. */
const LOW_PRIORITY = 10;
/** How often processes are looked at, and the time within which they may compute, in milliseconds. */
const LOOK_MS = 100;
const WINDOW_MS = 10_000;

interface Started {
  readonly child: ChildProcess;
  readonly bounds: ProcessBounds;
  /** Its module is loaded. */
  isReady: boolean;
  /** What it had computed at each look within the window, the oldest first. */
  looks: { readonly at: number; readonly ms: number }[];
  passed?: Bound;
}

const all = new Map<number, Started>();
let isLooking = false;
let looking: NodeJS.Timeout | undefined;

function start(id: number, module: string, bounds: ProcessBounds): void {
  const child = fork(fileURLToPath(module), [], {
    serialization: "advanced",
    // A library that writes of what it reads would let others fill our log.
    stdio: ["ignore", "ignore", "ignore", "ipc"],
    execArgv: startFlags(module, bounds.megabytes),
  });
  const one: Started = { child, bounds, isReady: false, looks: [] };
  all.set(id, one);
  looking ??= setInterval(look, LOOK_MS);
  child.on("message", (said: Answered | Ready) => {
    if ("ready" in said) {
      one.isReady = true;
      // Not before: to load is our own work, which a call waits for.
      if (bounds.isLow) attempt(() => setPriority(child.pid as number, LOW_PRIORITY));
    }
    say({ id, said });
  });
  const gone = (how?: Ending): void => {
    if (!all.delete(id)) return;
    say({ id, ended: how ?? "" });
    if (all.size > 0) return;
    clearInterval(looking);
    looking = undefined;
  };
  child.on("error", () => child.pid === undefined && gone());
  child.once("exit", (_code, signal) => gone(one.passed ?? endingBy(signal)));
  if (child.pid === undefined) return;
  // Where memory runs out, the system ends these first, and leaves no copies of their memory on the disk.
  attempt(() => writeFileSync(`/proc/${child.pid}/oom_score_adj`, "1000"));
}

/** SIGABRT is what V8 does without heap; SIGKILL what the system does without memory, and an administrator. */
function endingBy(signal: string | null): Ending | undefined {
  if (signal === "SIGABRT") return "memory";
  return signal === "SIGKILL" || signal === "SIGTERM" ? "killed" : undefined;
}

async function look(): Promise<void> {
  if (isLooking) return;
  isLooking = true;
  const usage = await usageOf([...all.values()].flatMap(({ child: { pid } }) => pid ?? []));
  isLooking = false;
  const now = performance.now();
  for (const one of all.values()) {
    const used = usage.get(one.child.pid ?? 0);
    if (used === undefined || one.passed !== undefined) continue;
    if (one.isReady) one.looks = [...one.looks.filter(({ at }) => at >= now - WINDOW_MS), { at: now, ms: used.ms }];
    if (used.ms - (one.looks[0]?.ms ?? used.ms) > one.bounds.busyMs) one.passed = "time";
    else if (used.bytes > one.bounds.wholeMegabytes * 2 ** 20) one.passed = "memory";
    if (one.passed !== undefined) one.child.kill("SIGKILL");
  }
}

function say(message: object): void {
  process.send?.(message, undefined, undefined, () => undefined);
}

/** What not every system has. */
function attempt(what: () => void): void {
  try {
    what();
  } catch {
    // It goes without.
  }
}

attempt(() => writeFileSync("/proc/self/coredump_filter", "0"));
outliveSignals();
process.on("message", (said: ToStarter) => {
  if ("module" in said) return start(said.id, said.module, said.bounds);
  const child = all.get(said.id)?.child;
  if ("end" in said) child?.kill("SIGKILL");
  else child?.send(said.post as object, () => undefined);
});
process.once("disconnect", () => {
  for (const { child } of all.values()) child.kill("SIGKILL");
  process.exit(0);
});
