import type { TransferListItem } from "node:worker_threads";

// What runs apart, in a thread or a process, is asked by messages.

/**
 * What it answers to: a method by its name, each with one argument, what ends when its caller waits no longer, and what
 * the caller is told meanwhile.
 */
export type ThreadMethods = Readonly<
  Record<string, (argument: never, signal: AbortSignal, tell: (text: string) => void) => unknown>
>;

type Argument<M extends ThreadMethods, N extends keyof M> = Parameters<M[N]>[0];
type Answer<M extends ThreadMethods, N extends keyof M> = Awaited<ReturnType<M[N]>>;

/** A call. */
export interface Asked {
  readonly id: number;
  readonly method: string;
  readonly argument: unknown;
}

/** The caller of this call waits no longer. */
export interface Cancelled {
  readonly cancelled: number;
}

/** What came of a call. */
export interface Answered {
  readonly id: number;
  readonly result?: unknown;
  /** What went wrong, where something did, and the name of its class; `detail` is for the log alone. */
  readonly error?: { readonly name: string; readonly message: string; readonly detail?: string };
}

/** What a call that goes on tells. */
export interface Told {
  readonly id: number;
  readonly told: string;
}

/** Its module is loaded. */
export interface Ready {
  readonly ready: true;
}

/** The bound that it passed. */
export type Bound = "time" | "memory";

/** Why it ended: it passed a bound, or somebody else killed it, such as an administrator or a system without memory. */
export type Ending = Bound | "killed";

/** It ended before it answered: it passed a bound, was killed or was closed. */
export class ThreadEndedError extends Error {
  constructor(
    message: string,
    readonly how?: Ending,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** It was ended because this call took too long; other calls that it ended with are innocent. */
export class ThreadStuckError extends ThreadEndedError {}

/** How long its calls may take, and how long it is kept. */
export interface AskedOptions {
  /**
   * How long each call may take, in milliseconds, beginning with its turn; of what serves in order. What is stuck is
   * ended, and the next call starts it again.
   */
  readonly ms?: number;
  /** How long it is kept after it answered its last call, in milliseconds; as long as this process if left out. */
  readonly idleMs?: number;
  /** Hears that it ended, and why: what it knew is gone. */
  readonly ended?: (why: ThreadEndedError) => void;
}

/** What is asked by messages; it starts at the first, and again at the next one after it ended. */
export interface Thread<M extends ThreadMethods> {
  /** Starts it before it is asked: it loads meanwhile. */
  prepare(): void;
  /**
   * Runs a method there.
   *
   * @param argument is copied, but for what is in `transfer`, which moves if both are of one process.
   * @param signal ends the call, here and there.
   * @param hear what it tells before it answers.
   * @throws ThreadEndedError where it ends meanwhile, ThreadStuckError where this call is why; Error with the name and
   * words of what the method threw; the signal's reason.
   */
  call<N extends keyof M & string>(
    method: N,
    argument: Argument<M, N>,
    transfer?: readonly TransferListItem[],
    signal?: AbortSignal,
    hear?: (told: string) => void,
  ): Promise<Answer<M, N>>;
  /** Ends it; what it was asked is rejected. */
  close(why?: string): Promise<void>;
}

/** Hears what runs apart. */
export interface Hearing {
  said(said: Answered | Ready | Told): void;
  /** @param cause what nobody caught, if that ended it. */
  ended(why: string, how?: Ending, cause?: Error): void;
}

/** What was started. */
export interface Running {
  post(said: Asked | Cancelled, transfer: readonly TransferListItem[]): void;
  end(): Promise<void>;
}

/** How long its module may take to load, on a busy machine, in milliseconds: the first call has its time after that. */
const LOAD_MS = 30_000;

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
  hear?(told: string): void;
}

/** Asks what `start` starts. */
export function createAsked<M extends ThreadMethods>(
  start: (hearing: Hearing) => Running,
  { ms, idleMs, ended }: AskedOptions,
): Thread<M> {
  let running: Running | undefined;
  let isReady = false;
  let asked = 0;
  const waiting = new Map<number, Waiting>();
  let patience: NodeJS.Timeout | undefined;

  /** From now on, the call whose turn it is has its time; what has no calls is idle. */
  function watch(): void {
    clearTimeout(patience);
    const [first] = waiting;
    if (first === undefined && idleMs !== undefined)
      patience = setTimeout(() => void thread.close("it was idle"), idleMs).unref();
    if (ms === undefined || first === undefined) return;
    const [id, { reject }] = first;
    // What was said while this loop was busy is read first.
    const stuck = (): NodeJS.Immediate => setImmediate(() => (waiting.has(id) ? giveUp(id, reject) : watch()));
    patience = setTimeout(stuck, isReady ? ms : LOAD_MS + ms).unref();
  }

  function giveUp(id: number, reject: Waiting["reject"]): void {
    const words = `took more than ${(ms as number) / 1_000} seconds`;
    waiting.delete(id);
    reject(new ThreadStuckError(`it ${words}`));
    void thread.close(`another call before it ${words}`);
  }

  function end(one: Running, why: string, how?: Ending, cause?: Error): void {
    if (running !== one) return;
    running = undefined;
    clearTimeout(patience);
    const error = (): ThreadEndedError => new ThreadEndedError(why, how, cause && { cause });
    for (const { reject } of waiting.values()) reject(error());
    waiting.clear();
    ended?.(error());
  }

  function begin(): Running {
    isReady = false;
    const one = start({
      said(said) {
        if (running !== one) return;
        if ("ready" in said) {
          isReady = true;
          return watch();
        }
        if ("told" in said) return waiting.get(said.id)?.hear?.(said.told);
        const { id, result, error } = said;
        const call = waiting.get(id);
        waiting.delete(id);
        watch();
        if (error === undefined) call?.resolve(result);
        else call?.reject(Object.assign(new Error(error.message), { ...error }));
      },
      ended: (why, how, cause) => end(one, why, how, cause),
    });
    return one;
  }

  const thread: Thread<M> = {
    prepare() {
      running ??= begin();
    },
    call(method, argument, transfer = [], signal, hear) {
      if (signal?.aborted) return Promise.reject(signal.reason as Error);
      running ??= begin();
      const [one, id] = [running, ++asked];
      const answer = new Promise((resolve, reject) => {
        const cancel = (): void => {
          if (!waiting.delete(id)) return;
          one.post({ cancelled: id }, []);
          reject(signal?.reason as Error);
        };
        const settled = (): void => signal?.removeEventListener("abort", cancel);
        waiting.set(id, {
          ...(hear && { hear }),
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
      one.post({ id, method, argument }, transfer);
      if (waiting.size === 1) watch();
      return answer as Promise<Answer<M, typeof method>>;
    },
    async close(why = "the thread was closed") {
      const one = running;
      if (one === undefined) return;
      end(one, why);
      await one.end();
    },
  };
  return thread;
}
