import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { ProcessSnapshots } from "../shared/metrics/exposition.js";
import type { Snapshot } from "../shared/metrics/metrics.js";
import { type Channel, openChannel } from "../shared/process/channel.js";
import type { Log } from "../shared/process/log.js";

/** Façade workers in processes of their own. */
export interface Workers {
  /** How many there should be. */
  readonly count: number;
  /** How many answer now. */
  serving(): number;
  /** What each counted; one that does not answer in time is left out. */
  metrics(): Promise<readonly ProcessSnapshots[]>;
  /** Lets each finish what it has in flight. */
  drain(graceMs: number): Promise<void>;
}

/** How many workers, and with what settings. */
export interface Options {
  readonly count: number;
  /** The settings of a façade, by environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Why this process cannot serve: workers say so for it. */
  readonly ready?: () => Promise<readonly string[]>;
  readonly log: Log;
  /** Starts one, in this environment; it sends a message once it listens. */
  readonly run?: (env: NodeJS.ProcessEnv) => ChildProcess;
}

const RESTART_MS = 500;

/**
 * Runs façade workers in processes of their own; all listen on the same port,
 * and the kernel spreads connections over them. One that dies, or cannot be
 * forked again, is started again until it runs. @throws Error where one does not start the first time.
 */
export async function startWorkers({ count, env, ready, log, run = forkWorker }: Options): Promise<Workers> {
  const alive = new Map<number, { readonly child: ChildProcess; readonly channel: Channel }>();
  let draining = false;

  function start(slot: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const child = run({ ...process.env, ...env });
      let over = false;
      // A process that could not be forked has an error and no exit.
      const end = (cause: object, why: Error): void => {
        if (over) return;
        over = true;
        alive.delete(slot);
        reject(why);
        if (draining) return;
        log.error({ slot, ...cause }, "a façade worker died; a new one starts");
        setTimeout(() => {
          if (!draining)
            start(slot).catch((error: unknown) => log.error({ err: error, slot }, "the worker did not start"));
        }, RESTART_MS);
      };
      child.on("error", (error) => {
        if (child.pid === undefined) end({ err: error }, error);
      });
      child.once("exit", (code, signal) =>
        end({ code, signal }, new Error(`a façade worker ended with ${code ?? signal} before it was ready`)),
      );
      const channel = openChannel(child, { ready: async () => (await ready?.()) ?? [] });
      child.once("message", () => {
        alive.set(slot, { child, channel });
        resolve();
      });
    });
  }

  try {
    await Promise.all(Array.from({ length: count }, (_, slot) => start(slot)));
  } catch (error) {
    draining = true;
    for (const { child } of alive.values()) child.kill("SIGTERM");
    throw error;
  }
  return {
    count,
    serving: () => alive.size,
    async metrics() {
      const asked = [...alive].map(async ([slot, { channel }]) => {
        const metrics = (await channel.ask("metrics").catch(() => [])) as readonly Snapshot[];
        return { process: `worker-${slot}`, metrics };
      });
      return Promise.all(asked);
    },
    async drain(graceMs) {
      draining = true;
      const ending = [...alive.values()].map(async ({ child }) => {
        child.kill("SIGTERM");
        await Promise.race([once(child, "exit"), sleep(graceMs + 1_000)]);
        child.kill("SIGKILL");
      });
      await Promise.all(ending);
    },
  };
}

/**
 * A worker's live heap is about 40 MB. V8 would let what is new grow to 48 MB, and collect the rest only when it is
 * twice as large; with these bounds a loaded worker stays within 130 MB. The same flag on this process's command line
 * comes later, and counts; one in NODE_OPTIONS does not.
 */
const HEAP = ["--max-semi-space-size=8", "--max-old-space-size=512"];

function forkWorker(env: NodeJS.ProcessEnv): ChildProcess {
  return fork(new URL("../../facade/main.js", import.meta.url), [], {
    env,
    execArgv: [...HEAP, ...process.execArgv],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}
