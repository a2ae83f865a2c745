import type { Broken, Connection } from "./connection.js";
import type { Answer } from "./http/reader.js";
import type { Post } from "./http/request.js";

/** A request on its way through the pool. */
export interface Queued {
  /** When it was due, by performance.now(). */
  readonly dueMs: number;
  /** Made when it is sent. */
  readonly post: () => Post;
  /** Called when a connection takes it. */
  readonly sent: (nowMs: number) => void;
  /** Called once at its end. */
  readonly done: (answer: Answer | Broken) => void;
}

/** How many requests are under way, and how many wait for a connection. */
export interface Load {
  readonly inFlight: number;
  readonly waiting: number;
}

/** A pool of connections. A request takes the one that has been free for longest, or waits for the next one. */
export interface Connections {
  send(queued: Queued): void;
  readonly load: Load;
  /** Gives up what was due longer than the time limit ago; to be called several times a second. */
  expire(nowMs: number): void;
  close(): void;
}

const CLOSED: Broken = { broken: "closed", detail: "the run ended before the answer came" };

/** A free connection, or one with its request. */
interface Slot {
  readonly connection: Connection;
  queued: Queued | undefined;
}

/** Makes a pool; @param timeoutMs from the time at which a request is due. */
export function createConnections(all: readonly Connection[], timeoutMs: number): Connections {
  const slots: readonly Slot[] = all.map((connection) => ({ connection, queued: undefined }));
  const free = createQueue<Slot>(slots);
  const waiting = createQueue<Queued>([]);
  const seconds = timeoutMs / 1_000;

  const start = (slot: Slot, queued: Queued): void => {
    slot.queued = queued;
    const post = queued.post();
    queued.sent(performance.now());
    slot.connection.send(post, (answer) => {
      slot.queued = undefined;
      queued.done(answer);
      const next = waiting.take();
      if (next === undefined) free.add(slot);
      else start(slot, next);
    });
  };
  return {
    send: (queued) => {
      const slot = free.take();
      if (slot === undefined) waiting.add(queued);
      else start(slot, queued);
    },
    get load() {
      return { inFlight: slots.length - free.size, waiting: waiting.size };
    },
    expire: (nowMs) => {
      const oldest = nowMs - timeoutMs;
      for (let queued = waiting.first; queued !== undefined && queued.dueMs < oldest; queued = waiting.first) {
        waiting.take();
        queued.done({ broken: "no_connection", detail: `no connection became free within ${seconds} s` });
      }
      for (const { queued, connection } of slots) {
        if (queued !== undefined && queued.dueMs < oldest)
          connection.giveUp("timeout", `no answer within ${seconds} s`);
      }
    },
    close: () => {
      for (let queued = waiting.take(); queued !== undefined; queued = waiting.take()) queued.done(CLOSED);
      for (const { connection } of slots) connection.close();
    },
  };
}

interface Queue<T> {
  readonly size: number;
  readonly first: T | undefined;
  add(one: T): void;
  take(): T | undefined;
}

/** First in, first out; an array alone would move all of a long queue at each take. */
function createQueue<T>(first: readonly T[]): Queue<T> {
  let items: T[] = [...first];
  let taken = 0;
  return {
    get size() {
      return items.length - taken;
    },
    get first() {
      return items[taken];
    },
    add: (one) => void items.push(one),
    take: () => {
      if (taken === items.length) return undefined;
      const one = items[taken++];
      if (taken > 1_024 && taken * 2 > items.length) {
        items = items.slice(taken);
        taken = 0;
      }
      return one;
    },
  };
}
