import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Log } from "../shared/process/log.js";

/** Façade workers in processes of their own. */
export interface Workers {
  /** How many answer now. */
  serving(): number;
  /** Lets each finish what it has in flight. */
  drain(graceMs: number): Promise<void>;
}

/** How many workers, and with what settings. */
export interface Options {
  readonly count: number;
  /** The settings of a façade, by environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
}

const RESTART_MS = 500;

/**
 * Runs façade workers in processes of their own; all listen on the same port,
 * and the kernel spreads connections over them. One that dies is started again.
 */
export async function startWorkers({ count, env, log }: Options): Promise<Workers> {
  const alive = new Map<number, ChildProcess>();
  let draining = false;

  function start(slot: number): Promise<void> {
    const child = fork(new URL("../../facade/main.js", import.meta.url), [], {
      env: { ...process.env, ...env },
      stdio: ["ignore", "inherit", "inherit", "ipc"],
    });
    child.once("exit", (code, signal) => {
      alive.delete(slot);
      if (draining) return;
      log.error({ slot, code, signal }, "a façade worker died; another takes its place");
      setTimeout(() => {
        if (!draining)
          start(slot).catch((error: unknown) => log.error({ err: error, slot }, "the worker did not start"));
      }, RESTART_MS);
    });
    return new Promise((resolve, reject) => {
      child.once("error", reject);
      child.once("exit", (code) => reject(new Error(`a façade worker ended with ${code} before it listened`)));
      child.once("message", () => {
        alive.set(slot, child);
        resolve();
      });
    });
  }

  await Promise.all(Array.from({ length: count }, (_, slot) => start(slot)));
  return {
    serving: () => alive.size,
    async drain(graceMs) {
      draining = true;
      const ending = [...alive.values()].map(async (child) => {
        child.kill("SIGTERM");
        await Promise.race([once(child, "exit"), sleep(graceMs + 1_000)]);
        child.kill("SIGKILL");
      });
      await Promise.all(ending);
    },
  };
}
