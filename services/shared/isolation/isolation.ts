import { createThread, type Thread, ThreadEndedError, type ThreadMethods } from "../process/thread.js";
import { fromThread, MisbehavedError } from "./misbehaved.js";

// What others answer is read in threads. A thread reads what one remote answers and
// nothing else, so that what a remote does to it, it does to itself; and each thread
// has bounds, and ends when one is passed.

/** What a thread is asked and answers: a text or bytes, whose length is known before anything is made of them. */
export type Packed = string | Uint8Array;

/** What runs apart: a module, and how much it may take. */
export interface Work<M extends ThreadMethods> {
  /** Written with .js, as in an import; it calls serveThread. */
  readonly module: URL;
  /** Heap. */
  readonly megabytes: number;
  /** How long it may compute within ten seconds, in milliseconds. */
  readonly busyMs: number;
  /** Characters or bytes of what it is asked and of what it answers. */
  readonly asked: number;
  readonly answered: number;
  /** Calls of one thread at a time. */
  readonly atOnce: number;
  /** Ends the thread after each call. */
  readonly once?: true;
  /** What it is, for the compiler alone. */
  readonly methods?: M;
}

/** Whose answers a thread reads. */
export interface Remote {
  /** Of the object that leads there. */
  readonly id: string;
  /** Brought it: the threads of one owner are bounded, whatever others share with them. */
  readonly owner: string;
}

/** How a call is waited for. */
export interface Patience {
  readonly ms: number;
  readonly signal: AbortSignal;
}

/** Runs work in threads. */
export interface Isolation {
  /**
   * Has the thread of a remote do something.
   *
   * @throws MisbehavedError where a bound is passed or the thread ends; BusyError; the signal's reason; Error with the
   * words of what the work threw.
   */
  call<M extends ThreadMethods>(
    work: Work<M>,
    remote: Remote,
    method: keyof M & string,
    asked: Packed,
    patience: Patience,
  ): Promise<Packed>;
  /** Keeps the thread of a remote, and what it knows, between calls, unless others need its place; until it is released. */
  keep(work: Pick<Work<ThreadMethods>, "module">, remote: Remote): () => void;
  close(): Promise<void>;
}

/** No thread is free: too many remotes are read at the moment. */
export class BusyError extends Error {}

/** How many threads there are, and how long. */
export interface IsolationOptions {
  /** Threads at a time. */
  readonly threads: number;
  /** How long a thread without calls is kept, in milliseconds. */
  readonly idleMs: number;
  /** How long a call waits for a thread, in milliseconds. */
  readonly waitMs: number;
}

const OPTIONS: IsolationOptions = { threads: 16, idleMs: 10_000, waitMs: 20_000 };
/** How often threads are looked at, and the time within which they may compute, in milliseconds. */
const LOOK_MS = 250;
const WINDOW_MS = 10_000;

interface Place {
  readonly key: string;
  readonly owner: string;
  readonly work: Work<ThreadMethods>;
  readonly thread: Thread<ThreadMethods>;
  calls: number;
  kept: number;
  idleSince: number;
  /** What it had computed at each look within the window, the oldest first. */
  looks: { readonly at: number; readonly active: number }[];
}

interface Waiting {
  readonly owner: string;
  go(): void;
}

/** Begins without a thread. */
export function createIsolation({ threads, idleMs, waitMs }: IsolationOptions = OPTIONS): Isolation {
  const places = new Map<string, Place>();
  const queue: Waiting[] = [];
  let isClosed = false;
  let looking: NodeJS.Timeout | undefined;

  function look(): void {
    const now = performance.now();
    for (const place of places.values()) {
      const active = place.thread.active();
      place.looks.push({ at: now, active });
      place.looks = place.looks.filter(({ at }) => at >= now - WINDOW_MS);
      const computed = active - (place.looks[0]?.active ?? active);
      if (computed > place.work.busyMs)
        end(place, `it takes more than ${place.work.busyMs / 1_000} seconds to read what it answers`);
      else if (place.calls === 0 && place.kept === 0 && now - place.idleSince > idleMs) end(place, "it was idle");
    }
  }

  function end(place: Place, why: string): void {
    if (places.get(place.key) === place) places.delete(place.key);
    void place.thread.close(why);
    if (places.size === 0) {
      clearInterval(looking);
      looking = undefined;
    }
    next();
  }

  /** Lets those go who waited longest and may have a thread now. */
  function next(): void {
    for (let n = 0; n < queue.length; ) {
      const one = queue[n] as Waiting;
      if (!hasRoom(one.owner)) n++;
      else {
        queue.splice(n, 1);
        one.go();
      }
    }
  }

  /** An owner who has as many threads at work as there are places left gets no more: others find one. */
  function hasRoom(owner: string): boolean {
    const working = [...places.values()].filter(({ calls }) => calls > 0);
    const own = working.filter((place) => place.owner === owner).length;
    return threads - working.length > own;
  }

  function open<M extends ThreadMethods>(key: string, work: Work<M>, owner: string): Place {
    if (places.size >= threads) {
      const idle = [...places.values()].filter(({ calls }) => calls === 0);
      const [longest] = idle.sort((a, b) => a.kept - b.kept || a.idleSince - b.idleSince);
      if (longest !== undefined) end(longest, "others needed its place");
    }
    const thread = createThread<ThreadMethods>(work.module, { megabytes: work.megabytes });
    const place: Place = {
      ...{ key, owner, thread, calls: 0, kept: 0, idleSince: performance.now(), looks: [] },
      work: work as unknown as Work<ThreadMethods>,
    };
    places.set(key, place);
    looking ??= setInterval(look, LOOK_MS).unref();
    return place;
  }

  /** The place of a remote, once there is one. */
  async function placeOf<M extends ThreadMethods>(
    work: Work<M>,
    { id, owner }: Remote,
    signal: AbortSignal,
  ): Promise<Place> {
    const key = `${work.module.href} ${id}`;
    for (;;) {
      if (isClosed) throw new BusyError("the service is closing");
      const found = places.get(key);
      if (found !== undefined && found.calls >= work.atOnce)
        throw new BusyError(`it is asked ${work.atOnce} times at once already: try again later`);
      if (found !== undefined && (found.calls > 0 || hasRoom(owner))) return found;
      if (found === undefined && hasRoom(owner)) return open(key, work, owner);
      await turn(owner, signal);
    }
  }

  function turn(owner: string, signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (error: Error): void => {
        clearTimeout(timer);
        signal.removeEventListener("abort", aborted);
        const at = queue.indexOf(one);
        if (at >= 0) queue.splice(at, 1);
        reject(error);
      };
      const aborted = (): void => leave(signal.reason as Error);
      const timer = setTimeout(
        () => leave(new BusyError("too many other services are read at the moment: try again later")),
        waitMs,
      );
      const one: Waiting = {
        owner,
        go() {
          clearTimeout(timer);
          signal.removeEventListener("abort", aborted);
          resolve();
        },
      };
      signal.addEventListener("abort", aborted, { once: true });
      queue.push(one);
    });
  }

  return {
    async call(work, remote, method, asked, { ms, signal }) {
      if (asked.length > work.asked) throw new Error(`what it is asked is longer than ${work.asked} characters`);
      signal.throwIfAborted();
      const place = await placeOf(work, remote, signal);
      place.calls++;
      const late = new AbortController();
      const timer = setTimeout(
        () => late.abort(new MisbehavedError(`it did not answer within ${ms / 1_000} seconds`, "slow")),
        ms,
      );
      try {
        const both = AbortSignal.any([signal, late.signal]);
        const answer = (await place.thread.call(method, asked as never, [], both)) as Packed;
        if (answer.length <= work.answered) return answer;
        throw new MisbehavedError(`its answer is longer than ${work.answered} characters`);
      } catch (error) {
        if (error instanceof ThreadEndedError) {
          if (places.get(place.key) === place) end(place, error.message);
          throw isClosed ? new BusyError("the service is closing") : new MisbehavedError(wordsOf(error));
        }
        throw fromThread(error as Error);
      } finally {
        clearTimeout(timer);
        place.calls--;
        place.idleSince = performance.now();
        if (work.once && place.calls === 0) end(place, "its work is done");
        else next();
      }
    },
    keep(work, { id }) {
      const place = places.get(`${work.module.href} ${id}`);
      if (place !== undefined) place.kept++;
      let isKept = true;
      return () => {
        if (place !== undefined && isKept) place.kept--;
        isKept = false;
      };
    },
    async close() {
      isClosed = true;
      clearInterval(looking);
      const all = [...places.values()];
      places.clear();
      await Promise.all(all.map(({ thread }) => thread.close()));
      next();
    },
  };
}

/** Node says of a thread that ran out of memory that it "terminated due to reaching memory limit". */
function wordsOf({ message }: Error): string {
  return /memory limit|heap/i.test(message) ? "it takes too much memory to read what it answers" : message;
}
