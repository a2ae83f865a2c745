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
  /**
   * Lets them listen, once what they call can answer; resolved means that all do.
   *
   * @param ready why this process cannot serve: workers say so for it.
   * @throws Error if one did not start.
   */
  serve(ready: Ready): Promise<void>;
  /** How many answer now. */
  serving(): number;
  /** What each counted; one that does not answer in time is left out. */
  metrics(): Promise<readonly ProcessSnapshots[]>;
  /** Lets each finish what it has in flight. */
  drain(graceMs: number): Promise<void>;
}

type Ready = () => Promise<readonly string[]>;

/** How many workers, and with what settings. */
export interface Options {
  readonly count: number;
  /** The settings of a façade, by environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly log: Log;
  /** Starts one, in this environment; it asks when it may serve, and sends {@link LISTENING} once it listens. */
  readonly run?: (env: NodeJS.ProcessEnv) => ChildProcess;
}

interface Worker {
  readonly child: ChildProcess;
  readonly channel: Channel;
  isServing: boolean;
}

const RESTART_MS = 500;
/** What a worker says once it listens. */
const LISTENING = "listening";

/**
 * Forks façade workers, which load their code while this process starts its services. All listen on the same port, and
 * the kernel spreads connections over them. One that dies, or cannot be forked again, is started again until it runs;
 * not if that happens before all have listened once.
 */
export function forkWorkers({ count, env, log, run = forkWorker }: Options): Workers {
  const workers = new Map<number, Worker>();
  let draining = false;
  let allow: (ready: Ready) => void;
  const allowed = new Promise<Ready>((resolve) => {
    allow = resolve;
  });
  const answers = {
    mayServe: async () => (await allowed) !== undefined,
    ready: async () => (await allowed)(),
  };

  function start(slot: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const child = run({ ...process.env, ...env });
      let over = false;
      // A process that could not be forked has an error and no exit.
      const end = (cause: object, why: Error): void => {
        if (over) return;
        over = true;
        workers.delete(slot);
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
      const channel = openChannel(child, answers);
      const worker: Worker = { child, channel, isServing: false };
      workers.set(slot, worker);
      child.on("message", (said) => {
        if (said !== LISTENING) return;
        worker.isServing = true;
        resolve();
      });
    });
  }

  function kill(): ChildProcess[] {
    draining = true;
    const children = [...workers.values()].map(({ child }) => child);
    for (const child of children) child.kill("SIGTERM");
    return children;
  }

  const first = Promise.all(Array.from({ length: count }, (_, slot) => start(slot))).catch((error: unknown) => {
    kill();
    throw error;
  });
  // Who lets them serve hears of it.
  first.catch(() => undefined);

  return {
    count,
    async serve(ready) {
      allow(ready);
      await first;
    },
    serving: () => [...workers.values()].filter(({ isServing }) => isServing).length,
    async metrics() {
      const serving = [...workers].filter(([, { isServing }]) => isServing);
      const asked = serving.map(async ([slot, { channel }]) => {
        const metrics = (await channel.ask("metrics").catch(() => [])) as readonly Snapshot[];
        return { process: `worker-${slot}`, metrics };
      });
      return Promise.all(asked);
    },
    async drain(graceMs) {
      const ending = kill().map(async (child) => {
        await Promise.race([once(child, "exit"), sleep(graceMs + 1_000)]);
        child.kill("SIGKILL");
      });
      await Promise.all(ending);
    },
  };
}

/**
 * A worker's live heap is about 40 MB. V8 would let what is new grow to 48 MB, and collect the rest only when it is
 * twice as large; with these bounds a loaded worker stays within 130 MB. Little of what is new is left when it is
 * collected: threads that share that work cost more than the work, and one thread does what goes on beside calls. The same
 * flag on this process's command line comes later, and counts; one in NODE_OPTIONS does not.
 */
export const WORKER_FLAGS = [
  ...["--max-semi-space-size=8", "--max-old-space-size=512"],
  ...["--no-parallel-scavenge", "--v8-pool-size=1"],
];

function forkWorker(env: NodeJS.ProcessEnv): ChildProcess {
  return fork(new URL("../../facade/main.js", import.meta.url), [], {
    env,
    execArgv: [...WORKER_FLAGS, ...process.execArgv],
    stdio: ["ignore", "inherit", "inherit", "ipc"],
  });
}
