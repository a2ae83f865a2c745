import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { spawnProgram } from "../support/program.js";
import { titled } from "../support/titled.js";
import { NO_PROC, workersOf } from "../support/workers.js";

test.skipIf(NO_PROC !== undefined)(
  titled("workers that wait for the services end with the process that forked them", NO_PROC),
  async () => {
    const dir = mkdtempSync(join(tmpdir(), "sallyport-"));
    const child = spawnProgram("services/main.js", ["--workers", "2"], { PORT: "0", GRPC_PORT: "0", DATA_DIR: dir });
    try {
      const workers = (): number[] => workersOf(child.process.pid as number);
      await expect.poll(workers, { timeout: 30_000, interval: 10 }).toHaveLength(2);
      const waiting = workers();
      const ended = once(child.process, "exit");
      child.process.kill("SIGKILL");
      await ended;
      const alive = (): number[] => waiting.filter((pid) => existsSync(`/proc/${pid}`));
      await expect.poll(alive, { timeout: 10_000 }).toEqual([]);
      expect(child.output()).toBe("");
    } finally {
      await child.stop();
      rmSync(dir, { recursive: true, force: true });
    }
  },
);
