import { setTimeout as sleep } from "node:timers/promises";
import { startProgram } from "../../support/program.js";
import { cpuMicroseconds, familyOf } from "../servers/processes.js";
import type { Say } from "./main.js";
import { residentBytesOf, writtenBytesOf } from "./memory.js";

/** What follows a start is over by then. */
const REST_MS = 60_000;

/** What a program takes that nobody calls. */
export async function idlePart(say: Say, seconds: number): Promise<void> {
  for (const workers of [1, 2]) {
    const program = await startProgram({ env: { WORKERS: String(workers) } });
    const pid = program.process.pid as number;
    try {
      await sleep(REST_MS);
      const written = (): number => familyOf(pid).reduce((sum, one) => sum + writtenBytesOf(one), 0);
      const [cpu, bytes] = [cpuMicroseconds(pid), written()];
      await sleep(seconds * 1_000);
      const share = (cpuMicroseconds(pid) - cpu) / (seconds * 10_000);
      const rate = (written() - bytes) / seconds / 1_024;
      const memory = familyOf(pid).map((one) => `${(residentBytesOf(one) / (1 << 20)).toFixed(0)} MB`);
      const what = workers === 1 ? "idle, one process" : `idle, ${workers} workers`;
      say(what, `${share.toFixed(2)} % of a core`, `${rate.toFixed(1)} KB/s written; resident ${memory.join(", ")}`);
    } finally {
      await program.stop();
    }
  }
}
