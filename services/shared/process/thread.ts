import { extname } from "node:path";
import { parentPort, type TransferListItem, Worker } from "node:worker_threads";

/** What modules end with here: .js once built, .ts under tsx and vitest, as this one does. */
const EXTENSION = extname(new URL(import.meta.url).pathname);

/** What a thread answers to: a method by its name, each with one argument. */
export type ThreadMethods = Readonly<Record<string, (argument: never) => unknown>>;

type Argument<M extends ThreadMethods, N extends keyof M> = Parameters<M[N]>[0];
type Answer<M extends ThreadMethods, N extends keyof M> = Awaited<ReturnType<M[N]>>;

interface Asked {
  readonly id: number;
  readonly method: string;
  readonly argument: unknown;
}

interface Answered {
  readonly id: number;
  readonly result?: unknown;
  /** What went wrong, where something did. */
  readonly error?: string;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** A thread ended before it answered: it ran out of memory or time, or was closed. */
export class ThreadEndedError extends Error {}

/** A thread that is asked by messages; it starts at the first, and again at the next one after it ended. */
export interface Thread<M extends ThreadMethods> {
  /**
   * Runs a method there.
   *
   * @param argument is copied, but for what is in `transfer`, which moves.
   * @throws ThreadEndedError where it ends meanwhile; Error with the words of what the method threw.
   */
  call<N extends keyof M & string>(
    method: N,
    argument: Argument<M, N>,
    transfer?: readonly TransferListItem[],
  ): Promise<Answer<M, N>>;
  /** Ends it; what it was asked is rejected. */
  close(): Promise<void>;
}

/**
 * A thread of its own for work that would keep others waiting.
 *
 * @param url of the module that it runs, written with .js as in an import, which calls {@link serveThread}.
 * @param megabytes of heap, at most.
 * @param ended hears that it ended by itself: what it knew is gone.
 */
export function createThread<M extends ThreadMethods>(
  url: URL,
  { megabytes, ended }: { readonly megabytes: number; readonly ended?: () => void },
): Thread<M> {
  let worker: Worker | undefined;
  let asked = 0;
  const waiting = new Map<number, Waiting>();

  function end(one: Worker, why: string): void {
    if (worker !== one) return;
    worker = undefined;
    for (const { reject } of waiting.values()) reject(new ThreadEndedError(why));
    waiting.clear();
    ended?.();
  }

  function start(): Worker {
    const limits = { resourceLimits: { maxOldGenerationSizeMb: megabytes } };
    const one = EXTENSION === ".ts" ? new Worker(fromSource(url), { ...limits, eval: true }) : new Worker(url, limits);
    // A process that has nothing else to do ends.
    one.unref();
    one.on("message", ({ id, result, error }: Answered) => {
      const one = waiting.get(id);
      waiting.delete(id);
      if (error === undefined) one?.resolve(result);
      else one?.reject(new Error(error));
    });
    one.on("error", (error) => end(one, error.message));
    one.on("exit", () => end(one, "the thread ended"));
    return one;
  }

  return {
    call(method, argument, transfer = []) {
      worker ??= start();
      const id = ++asked;
      const answer = new Promise((resolve, reject) => waiting.set(id, { resolve, reject }));
      worker.postMessage({ id, method, argument } satisfies Asked, transfer);
      return answer as Promise<Answer<M, typeof method>>;
    },
    async close() {
      const one = worker;
      if (one === undefined) return;
      end(one, "the thread was closed");
      await one.terminate();
    },
  };
}

/** What runs a module of the sources, as tests do: a thread has no loader of its own in Node 20. */
function fromSource({ href }: URL): string {
  const module = JSON.stringify(href.replace(/\.js$/, EXTENSION));
  return `import("tsx/esm/api").then(({ register }) => { register(); return import(${module}); });`;
}

/** Answers what a thread is asked, one after another: the last call of the module that it runs. */
export function serveThread(methods: ThreadMethods): void {
  let last: Promise<unknown> = Promise.resolve();
  parentPort?.on("message", ({ id, method, argument }: Asked) => {
    last = last.then(async () => {
      try {
        parentPort?.postMessage({ id, result: await methods[method]?.(argument as never) } satisfies Answered);
      } catch (error) {
        parentPort?.postMessage({ id, error: (error as Error).message } satisfies Answered);
      }
    });
  });
}
