import { existsSync, readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startProgram } from "../support/program.js";
import { titled } from "../support/titled.js";

const SECONDS = 4;
/** A worker follows the credentials' events, and renews its lease: about 6 wakes a second. */
const MOST_A_SECOND = 20;

const childrenOf = (pid: number): number[] =>
  readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").split(" ").filter(Boolean).map(Number);
const wakesOf = (pid: number): number =>
  Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);
const isWorker = (pid: number): boolean => readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("facade");

const NO_PROC = existsSync("/proc/self/status") ? undefined : "the system has no /proc";

test.skipIf(NO_PROC !== undefined)(titled("workers that nobody calls sleep", NO_PROC), async () => {
  const program = await startProgram({ args: ["--workers", "2"] });
  try {
    const workers = childrenOf(program.process.pid as number).filter(isWorker);
    expect(workers).toHaveLength(2);
    await sleep(1_000);
    const before = workers.map(wakesOf);
    await sleep(SECONDS * 1_000);
    for (const [i, pid] of workers.entries())
      expect((wakesOf(pid) - (before[i] as number)) / SECONDS).toBeLessThan(MOST_A_SECOND);
  } finally {
    await program.stop();
  }
});
