import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { startProgram } from "../support/program.js";
import { titled } from "../support/titled.js";
import { NO_PROC, workersOf } from "../support/workers.js";

const SECONDS = 4;
/** A worker follows the credentials' events, and renews its lease: about 6 wakes a second. */
const MOST_A_SECOND = 20;

const wakesOf = (pid: number): number =>
  Number(/^voluntary_ctxt_switches:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]);

test.skipIf(NO_PROC !== undefined)(titled("workers that nobody calls sleep", NO_PROC), async () => {
  const program = await startProgram({ args: ["--workers", "2"] });
  try {
    const workers = workersOf(program.process.pid as number);
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
