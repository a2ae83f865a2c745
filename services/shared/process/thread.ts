import { parentPort, type ResourceLimits, type TransferListItem, Worker } from "node:worker_threads";
import {
  type Answered,
  type Asked,
  type AskedOptions,
  type Cancelled,
  createAsked,
  type Hearing,
  type Ready,
  type Running,
  type Thread,
  type ThreadMethods,
  type Told,
} from "./asked.js";
import { IS_SOURCE, isSource, moduleAt, outliveSignals } from "./start-flags.js";

/** Heap for what is new, in megabytes. */
const MAX_YOUNG = 32;

/** How a thread is bounded. */
export interface ThreadOptions extends AskedOptions {
  /** Of heap, at most. */
  readonly megabytes: number;
  /** Of heap for what is new: less of it takes less memory, and more time to collect. {@link MAX_YOUNG} if omitted. */
  readonly youngMegabytes?: number;
}

/**
 * A thread of its own for work that would keep others waiting. Its process runs until it is ended.
 *
 * @param url of the module that it runs, written with .js as in an import, which calls {@link serveThread}.
 */
export function createThread<M extends ThreadMethods>(
  url: URL,
  { megabytes, youngMegabytes = MAX_YOUNG, ...options }: ThreadOptions,
): Thread<M> {
  const heap = { maxOldGenerationSizeMb: megabytes, maxYoungGenerationSizeMb: youngMegabytes };
  return createAsked<M>((hearing) => startWorker(url, heap, hearing), options);
}

function startWorker(url: URL, resourceLimits: ResourceLimits, { said, ended }: Hearing): Running {
  const limits = { resourceLimits };
  const module = moduleAt(url);
  const one = isSource(module)
    ? new Worker(fromSource(module), { ...limits, eval: true })
    : new Worker(new URL(module), IS_SOURCE ? { ...limits, execArgv: [] } : limits);
  one.on("message", said);
  one.on("error", (error) => ended(error.message, undefined, error));
  one.on("exit", () => ended("the thread ended"));
  return {
    post: (message, transfer) => one.postMessage(message, transfer),
    async end() {
      await one.terminate();
    },
  };
}

/** What runs a module of the sources, as tests do: a thread has no loader of its own in Node 20. */
function fromSource(module: string): string {
  return `import("tsx/esm/api").then(({ register }) => { register(); return import(${JSON.stringify(module)}); });`;
}

const moved = new WeakMap<object, readonly TransferListItem[]>();

/** An answer whose bytes are moved to the asking thread, not copied. */
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
 * Answers what a thread or a process is asked: the last call of the module that it runs.
 *
 * @param how one after another, or at once what waits for others.
 */
export function serveThread(methods: ThreadMethods, how: "in order" | "at once" = "in order"): void {
  const post = (said: Answered | Ready | Told, transfer: readonly TransferListItem[] = []): void => {
    if (parentPort === null) process.send?.(said, undefined, undefined, () => undefined);
    else parentPort.postMessage(said, transfer);
  };
  let last: Promise<unknown> = Promise.resolve();
  const running = new Map<number, AbortController>();
  const answer = async ({ id, method, argument }: Asked, signal: AbortSignal): Promise<void> => {
    try {
      if (signal.aborted) return;
      const result = await methods[method]?.(argument as never, signal, (told) => post({ id, told }));
      post({ id, result }, moved.get(result as object));
    } catch (reason) {
      const { name, message, detail } = reason as Error & { readonly detail?: unknown };
      post({ id, error: { name, message, ...(typeof detail === "string" && { detail }) } });
    } finally {
      running.delete(id);
    }
  };
  const hear = (said: Asked | Cancelled): void => {
    if ("cancelled" in said) {
      running.get(said.cancelled)?.abort();
      return;
    }
    const stop = new AbortController();
    running.set(said.id, stop);
    if (how === "at once") void answer(said, stop.signal);
    else last = last.then(() => answer(said, stop.signal));
  };
  if (parentPort === null) {
    outliveSignals();
    process.once("disconnect", () => process.exit(0));
  }
  (parentPort ?? process).on("message", hear as (said: unknown) => void);
  post({ ready: true });
}
