import { readFileSync, readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { extname } from "node:path";
import { parentPort, type TransferListItem, Worker } from "node:worker_threads";

/** What modules end with here: .js once built, .ts under tsx and vitest, as this one does. */
const EXTENSION = extname(new URL(import.meta.url).pathname);

/** Heap for what is new, in megabytes. */
const MAX_YOUNG = 32;
/** As `nice` counts: 0 is usual, 19 the lowest. */
const LOW_PRIORITY = 10;

/** What a thread answers to: a method by its name, each with one argument, and what ends when its caller waits no longer. */
export type ThreadMethods = Readonly<Record<string, (argument: never, signal: AbortSignal) => unknown>>;

type Argument<M extends ThreadMethods, N extends keyof M> = Parameters<M[N]>[0];
type Answer<M extends ThreadMethods, N extends keyof M> = Awaited<ReturnType<M[N]>>;

interface Asked {
  readonly id: number;
  readonly method: string;
  readonly argument: unknown;
}

/** It is loaded; what the system calls the thread, where it keeps time for each. */
interface Ready {
  readonly tid: string;
}

/** The caller of this call waits no longer. */
interface Cancelled {
  readonly cancelled: number;
}

interface Answered {
  readonly id: number;
  readonly result?: unknown;
  /** What went wrong, where something did, and the name of its class. */
  readonly error?: { readonly name: string; readonly message: string };
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

/** A thread ended before it answered: it ran out of memory or time, or was closed. */
export class ThreadEndedError extends Error {}

/** The thread was ended because this call took too long; other calls that it ended with are innocent. */
export class ThreadStuckError extends ThreadEndedError {}

/** How a thread is bounded. */
export interface ThreadOptions {
  /** Of heap, at most. */
  readonly megabytes: number;
  /**
   * How long each call may take, in milliseconds, beginning with its turn; of a thread that serves in order. A thread
   * that is stuck is ended, and the next call starts it again.
   */
  readonly ms?: number;
  /** How long it is kept after it answered its last call, in milliseconds; as long as the process if left out. */
  readonly idleMs?: number;
  /** Hears that it ended: what it knew is gone. */
  readonly ended?: () => void;
}

/** A thread that is asked by messages; it starts at the first, and again at the next one after it ended. */
export interface Thread<M extends ThreadMethods> {
  /**
   * Runs a method there.
   *
   * @param argument is copied, but for what is in `transfer`, which moves.
   * @param signal ends the call, here and there.
   * @throws ThreadEndedError where it ends meanwhile, ThreadStuckError where this call is why; Error with the name and
   * words of what the method threw; the signal's reason.
   */
  call<N extends keyof M & string>(
    method: N,
    argument: Argument<M, N>,
    transfer?: readonly TransferListItem[],
    signal?: AbortSignal,
  ): Promise<Answer<M, N>>;
  /** Milliseconds that it has computed since it was loaded; 0 while it is not. Also known of one that is stuck. */
  active(): number;
  /** Ends it; what it was asked is rejected. */
  close(why?: string): Promise<void>;
}

/**
 * A thread of its own for work that would keep others waiting.
 *
 * @param url of the module that it runs, written with .js as in an import, which calls {@link serveThread}.
 */
export function createThread<M extends ThreadMethods>(
  url: URL,
  { megabytes, ms, idleMs, ended }: ThreadOptions,
): Thread<M> {
  let worker: Worker | undefined;
  let asked = 0;
  let ready: { readonly tid: string; readonly after: number } | undefined;
  const waiting = new Map<number, Waiting>();
  let patience: NodeJS.Timeout | undefined;

  /** From now on, the call whose turn it is has its time; a thread without calls is idle. */
  function watch(): void {
    clearTimeout(patience);
    const [first] = waiting;
    if (first === undefined && idleMs !== undefined)
      patience = setTimeout(() => void thread.close("it was idle"), idleMs).unref();
    if (ms === undefined || first === undefined) return;
    const [id, { reject }] = first;
    // What the thread said while this loop was busy is read first.
    const stuck = (): NodeJS.Immediate => setImmediate(() => (waiting.has(id) ? giveUp(id, reject) : watch()));
    patience = setTimeout(stuck, ms).unref();
  }

  function giveUp(id: number, reject: Waiting["reject"]): void {
    const words = `took more than ${(ms as number) / 1_000} seconds`;
    waiting.delete(id);
    reject(new ThreadStuckError(`it ${words}`));
    void thread.close(`another call before it ${words}`);
  }

  function end(one: Worker, why: string): void {
    if (worker !== one) return;
    worker = undefined;
    clearTimeout(patience);
    for (const { reject } of waiting.values()) reject(new ThreadEndedError(why));
    waiting.clear();
    ended?.();
  }

  function start(): Worker {
    const limits = { resourceLimits: { maxOldGenerationSizeMb: megabytes, maxYoungGenerationSizeMb: MAX_YOUNG } };
    const one = EXTENSION === ".ts" ? new Worker(fromSource(url), { ...limits, eval: true }) : new Worker(url, limits);
    // A process that has nothing else to do ends.
    one.unref();
    ready = undefined;
    one.on("message", (said: Answered | Ready) => {
      if ("tid" in said) {
        if (worker !== one) return;
        ready = { tid: said.tid, after: timeOf(one, said.tid) };
        return watch();
      }
      const { id, result, error } = said;
      const call = waiting.get(id);
      waiting.delete(id);
      if (worker === one) watch();
      if (error === undefined) call?.resolve(result);
      else call?.reject(Object.assign(new Error(error.message), { name: error.name }));
    });
    one.on("error", (error) => end(one, error.message));
    one.on("exit", () => end(one, "the thread ended"));
    return one;
  }

  const thread: Thread<M> = {
    call(method, argument, transfer = [], signal) {
      if (signal?.aborted) return Promise.reject(signal.reason as Error);
      worker ??= start();
      const [one, id] = [worker, ++asked];
      const answer = new Promise((resolve, reject) => {
        const cancel = (): void => {
          if (!waiting.delete(id)) return;
          one.postMessage({ cancelled: id } satisfies Cancelled);
          reject(signal?.reason as Error);
        };
        const settled = (): void => signal?.removeEventListener("abort", cancel);
        waiting.set(id, {
          resolve(result) {
            settled();
            resolve(result);
          },
          reject(error) {
            settled();
            reject(error);
          },
        });
        signal?.addEventListener("abort", cancel, { once: true });
      });
      one.postMessage({ id, method, argument } satisfies Asked, transfer);
      if (waiting.size === 1) watch();
      return answer as Promise<Answer<M, typeof method>>;
    },
    active: () => (worker === undefined || ready === undefined ? 0 : timeOf(worker, ready.tid) - ready.after),
    async close(why = "the thread was closed") {
      const one = worker;
      if (one === undefined) return;
      end(one, why);
      await one.terminate();
    },
  };
  return thread;
}

/** What runs a module of the sources, as tests do: a thread has no loader of its own in Node 20. */
function fromSource({ href }: URL): string {
  const module = JSON.stringify(href.replace(/\.js$/, EXTENSION));
  return `import("tsx/esm/api").then(({ register }) => { register(); return import(${module}); });`;
}

/** How long a thread computed; elsewhere than on Linux how long its loop was busy, which may be more. */
function timeOf({ performance }: Worker, tid: string): number {
  return processorTimeOf(tid) ?? performance.eventLoopUtilization().active;
}

/** Milliseconds of processor time of a thread, as Linux counts them (proc(5): utime and stime, in hundredths of a second). */
function processorTimeOf(tid: string): number | undefined {
  if (tid === "") return undefined;
  try {
    const fields = readFileSync(`/proc/self/task/${tid}/stat`, "latin1").split(") ")[1]?.split(" ") ?? [];
    return (Number(fields[11]) + Number(fields[12])) * 10;
  } catch {
    return undefined;
  }
}

const moved = new WeakMap<object, readonly TransferListItem[]>();

/** An answer whose bytes move to whoever asked, where they would be copied. */
export function moving<T extends object>(answer: T, ...bytes: readonly Uint8Array[]): T {
  moved.set(
    answer,
    bytes.map(({ buffer }) => buffer as ArrayBuffer),
  );
  return answer;
}

/** Bytes in memory of their own, which can move to a thread: others may stand beside those of a small Buffer. */
export function movable(bytes: Uint8Array): Uint8Array {
  const { buffer, byteLength } = bytes;
  return buffer.byteLength - byteLength <= SPARE_BYTES && buffer.byteLength > SPARE_BYTES
    ? bytes
    : new Uint8Array(bytes);
}

/** What may go with bytes that move: the prefix of a message. */
const SPARE_BYTES = 64;

/**
 * Answers what a thread is asked: the last call of the module that it runs.
 *
 * @param how one after another, or at once what waits for others.
 */
export function serveThread(methods: ThreadMethods, how: "in order" | "at once" = "in order"): void {
  const tid = process.platform === "linux" ? (readlinkSync("/proc/thread-self").split("/").at(-1) as string) : "";
  parentPort?.postMessage({ tid } satisfies Ready);
  let last: Promise<unknown> = Promise.resolve();
  const running = new Map<number, AbortController>();
  const answer = async ({ id, method, argument }: Asked, signal: AbortSignal): Promise<void> => {
    try {
      if (signal.aborted) return;
      const result = await methods[method]?.(argument as never, signal);
      parentPort?.postMessage({ id, result } satisfies Answered, moved.get(result as object) ?? []);
    } catch (reason) {
      const { name, message } = reason as Error;
      parentPort?.postMessage({ id, error: { name, message } } satisfies Answered);
    } finally {
      running.delete(id);
    }
  };
  parentPort?.on("message", (said: Asked | Cancelled) => {
    if ("cancelled" in said) return running.get(said.cancelled)?.abort();
    const stop = new AbortController();
    running.set(said.id, stop);
    if (how === "at once") void answer(said, stop.signal);
    else last = last.then(() => answer(said, stop.signal));
  });
}

/**
 * Lets every other thread of the process go first. Linux keeps a priority for each
 * thread; elsewhere it is the whole process's, which stays as it is.
 */
export function yieldToOthers(): void {
  if (process.platform === "linux") setPriority(0, LOW_PRIORITY);
}
