import { type Thread, ThreadEndedError, type ThreadMethods } from "../process/asked.js";
import type { ProcessBounds, Processes } from "../process/processes.js";
import { Kills } from "./kills.js";
import { KilledError, MisbehavedError, misbehavedFrom, REFUSED_ADDRESS } from "./misbehaved.js";
import { BusyError, Turns } from "./turns.js";

// What others answer is read in processes. A process reads what one remote answers and
// nothing else, so that what a remote does to it, it does to itself; each has bounds, and
// ends when one is passed; and with it all memory that it took.

/** What a process is asked and answers: a text or bytes, whose length is known before anything is made of them. */
export type Packed = string | Uint8Array;

/** What runs apart: a module, and how much it may take. */
export interface Work<M extends ThreadMethods> extends Omit<ProcessBounds, "isLow"> {
  /** Written with .js, as in an import; it calls serveThread. */
  readonly module: URL;
  /** Characters or bytes of what it is asked and of what it answers. */
  readonly asked: number;
  readonly answered: number;
  /** Calls of one process at a time. */
  readonly atOnce: number;
  /** Ends the process after its call. */
  readonly once?: true;
  /** Of the process, for the compiler alone. */
  readonly methods?: M;
}

/** Whose answers a process reads. */
export interface Remote {
  /** Of the object that leads there. */
  readonly id: string;
  /** Brought it: the processes of one owner are bounded, whatever others share with them. */
  readonly owner: string;
}

/** A remote was not called because its address is closed. */
export interface ClosedAddress {
  readonly remote: string;
  readonly owner: string;
  /** What the caller is told, with the host and port. */
  readonly reason: string;
  /** Which address the host leads to: for the log alone. */
  readonly detail: string;
}

/** How a call is waited for. */
export interface Patience {
  readonly ms: number;
  readonly signal: AbortSignal;
  /** What it tells before it answers. */
  readonly hear?: (told: string) => void;
  /** The call has no effect that could happen twice: it is made again in a new process if its own is killed. */
  readonly isRepeatable?: true;
}

/** Runs work in processes. */
export interface Isolation {
  /**
   * Has the process of a remote do something.
   *
   * @throws MisbehavedError where a bound is passed or the process ends; KilledError; BusyError; the signal's reason; Error with the
   * words of what the work threw.
   */
  call<M extends ThreadMethods>(
    work: Work<M>,
    remote: Remote,
    method: keyof M & string,
    asked: Packed,
    patience: Patience,
  ): Promise<Packed>;
  /** Keeps the process of a remote, and what it knows, between calls, unless others need its place; until it is released. */
  keep(work: Pick<Work<ThreadMethods>, "module">, remote: Remote): () => void;
  /** Ends the process of a remote, and what it knows. */
  end(work: Pick<Work<ThreadMethods>, "module">, remote: Remote): void;
  close(): Promise<void>;
}

/** How many processes there are, and how long. */
export interface IsolationOptions {
  /** Processes at a time. */
  readonly places: number;
  /** How long a process without calls is kept, in milliseconds. */
  readonly idleMs: number;
  /** How long a call waits for a process, in milliseconds. */
  readonly waitMs: number;
}

const OPTIONS: IsolationOptions = { places: 16, idleMs: 10_000, waitMs: 20_000 };
/** How often idle processes are looked for, in milliseconds. */
const LOOK_MS = 100;

interface Place {
  readonly key: string;
  readonly id: string;
  readonly owner: string;
  readonly work: Work<ThreadMethods>;
  readonly process: Thread<ThreadMethods>;
  calls: number;
  kept: number;
  idleSince: number;
}

/**
 * Begins without a process.
 *
 * @param closed hears of addresses that are not called.
 */
export function createIsolation(
  processes: Processes,
  { places: most, idleMs, waitMs }: IsolationOptions = OPTIONS,
  closed: (refused: ClosedAddress) => void = () => undefined,
): Isolation {
  const places = new Map<string, Place>();
  const turns = new Turns(waitMs);
  const kills = new Kills();
  let isClosed = false;
  let looking: NodeJS.Timeout | undefined;

  function look(): void {
    const now = performance.now();
    for (const place of places.values()) {
      if (place.calls === 0 && place.kept === 0 && now - place.idleSince > idleMs) end(place, "it was idle");
    }
  }

  function end(place: Place, why: string): void {
    if (places.get(place.key) === place) places.delete(place.key);
    void place.process.close(why);
    if (places.size === 0) {
      clearInterval(looking);
      looking = undefined;
    }
    turns.next(hasRoom);
  }

  /** An owner who has as many processes at work as there are places left gets no more: others find one. */
  function hasRoom(owner: string): boolean {
    const working = [...places.values()].filter(({ calls }) => calls > 0);
    return most - working.length > working.filter((place) => place.owner === owner).length;
  }

  function open<M extends ThreadMethods>(key: string, work: Work<M>, { id, owner }: Remote): Place {
    if (places.size >= most) {
      const idle = [...places.values()].filter(({ calls }) => calls === 0);
      const [longest] = idle.sort((a, b) => a.kept - b.kept || a.idleSince - b.idleSince);
      if (longest !== undefined) end(longest, "others needed its place");
    }
    const { megabytes, wholeMegabytes, busyMs } = work;
    const bounds = { megabytes, wholeMegabytes, busyMs, isLow: true };
    const place: Place = {
      ...{ key, id, owner, calls: 0, kept: 0, idleSince: performance.now() },
      process: processes.create<ThreadMethods>(work.module, bounds),
      work: work as unknown as Work<ThreadMethods>,
    };
    places.set(key, place);
    looking ??= setInterval(look, LOOK_MS).unref();
    return place;
  }

  /** The place of a remote, once there is one, with this call counted. */
  async function placeOf<M extends ThreadMethods>(work: Work<M>, remote: Remote, signal: AbortSignal): Promise<Place> {
    const { owner } = remote;
    const key = keyOf(work, remote.id);
    for (;;) {
      if (isClosed) throw new BusyError("the service is closing");
      const found = places.get(key);
      if (found !== undefined && found.calls >= work.atOnce)
        throw new BusyError(`${work.atOnce} calls to it are already in progress: try again later`);
      if ((found !== undefined && found.calls > 0) || hasRoom(owner)) {
        const place = found ?? open(key, work, remote);
        // At once: another call may look before this one goes on.
        place.calls++;
        return place;
      }
      await turns.wait(owner, signal);
    }
  }

  async function callIn(place: Place, method: string, asked: Packed, { ms, signal, hear }: Patience): Promise<Packed> {
    const late = new AbortController();
    const words = `it did not answer within ${ms / 1_000} seconds`;
    const timer = setTimeout(() => late.abort(new MisbehavedError(words, "slow")), ms);
    try {
      const both = AbortSignal.any([signal, late.signal]);
      return (await place.process.call(method, asked as never, [], both, hear)) as Packed;
    } catch (error) {
      if (!(error instanceof ThreadEndedError)) {
        const { name, message, detail } = error as Error & { readonly detail?: string };
        if (name === REFUSED_ADDRESS && detail !== undefined)
          closed({ remote: place.id, owner: place.owner, reason: message, detail });
        throw misbehavedFrom(error as Error);
      }
      if (places.get(place.key) === place) {
        if (error.how === "killed") kills.add(place.key);
        end(place, error.message);
      }
      if (isClosed) throw new BusyError("the service is closing");
      if (error.how === "killed" && !kills.areTooMany(place.key)) throw new KilledError();
      throw new MisbehavedError(wordsOf(error, place.work));
    } finally {
      clearTimeout(timer);
      place.calls--;
      place.idleSince = performance.now();
      if (place.work.once) end(place, "its work is done");
      else turns.next(hasRoom);
    }
  }

  return {
    async call(work, remote, method, asked, patience) {
      if (asked.length > work.asked) throw new Error(`the request to it is longer than ${work.asked} characters`);
      const answer = await untilNotKilled(patience, async () =>
        callIn(await placeOf(work, remote, patience.signal), method, asked, patience),
      );
      if (answer.length <= work.answered) return answer;
      throw new MisbehavedError(`its answer is longer than ${work.answered} characters`);
    },
    keep(work, { id }) {
      const place = places.get(keyOf(work, id));
      if (place !== undefined) place.kept++;
      let isKept = true;
      return () => {
        if (place !== undefined && isKept) place.kept--;
        isKept = false;
      };
    },
    end(work, { id }) {
      const place = places.get(keyOf(work, id));
      if (place !== undefined) end(place, "its work is done");
    },
    async close() {
      isClosed = true;
      clearInterval(looking);
      const all = [...places.values()];
      places.clear();
      turns.next(() => true);
      await Promise.all(all.map((place) => place.process.close()));
    },
  };
}

/** Makes a call, again if its process was killed and it may. It ends: what is killed too often has misbehaved. */
async function untilNotKilled<T>({ signal, isRepeatable }: Patience, make: () => Promise<T>): Promise<T> {
  for (;;) {
    signal.throwIfAborted();
    try {
      return await make();
    } catch (error) {
      if (isRepeatable !== true || !(error instanceof KilledError)) throw error;
    }
  }
}

function keyOf({ module }: Pick<Work<ThreadMethods>, "module">, id: string): string {
  return `${module.href} ${id}`;
}

/** Why a process ended, in words that are told of its remote. */
function wordsOf({ how, message }: ThreadEndedError, { busyMs }: Work<ThreadMethods>): string {
  if (how === "time") return `its answer takes more than ${busyMs / 1_000} seconds to read`;
  return how === undefined ? message : TOO_MUCH_MEMORY;
}

/** Of a remote whose answer takes more memory than its process may. */
export const TOO_MUCH_MEMORY = "its answer takes too much memory to read";
