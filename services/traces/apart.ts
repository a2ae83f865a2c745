import { setTimeout as sleep } from "node:timers/promises";
import pLimit from "p-limit";
import { type SlotLimits, Slots } from "../shared/limits/slots.js";
import { ThreadEndedError, ThreadStuckError } from "../shared/process/asked.js";
import { createThread, movable } from "../shared/process/thread.js";
import type { Call } from "../shared/rpc/call.js";
import { canceled, fromThread, invalidArgument, unavailable } from "../shared/rpc/errors.js";
import type { Peers } from "../shared/rpc/peers.js";
import type { Unread } from "../shared/rpc/unread.js";
import type { StorePlace } from "../shared/store/store.js";
import { usableAgents } from "./access.js";
import type { KeepingMethods } from "./apart/keeping.js";
import type { ReadApart, ReadingMethods } from "./apart/reading.js";
import { endOf, senderOf } from "./deliveries.js";
import { EXPORT_LIMITS, takeExportSlot } from "./export-slots.js";
import type { SpanQuota } from "./quota.js";
import type { Rejects } from "./rejects.js";

// A long export takes up to a second to be read, and as long to be kept. One thread
// reads: what an export does to it, it does there, and it is known which one did it,
// since it reads one at a time. Another has the store and keeps what was read: it
// parses nothing of others, and is not ended while it writes. Here bytes pass through.

/** Keeps the spans of exports that nobody has read yet, in threads. */
export interface Apart {
  /**
   * @returns the spans that were not taken.
   * @throws ConnectError resource_exhausted, where too many wait; invalid_argument, where it cannot be read or takes too
   *   much; canceled, where the sender is gone; unavailable.
   */
  keep(unread: Unread, call: Call): Promise<Rejects>;
  /** Ends the threads once what was taken is kept. */
  close(): Promise<void>;
}

/** What exports are read and kept with. */
export interface ApartOptions {
  readonly place: StorePlace;
  readonly peers: Peers;
  readonly retentionDays: number;
  readonly quota: SpanQuota;
  readonly slots?: SlotLimits;
  readonly reading?: ReadingLimits;
}

/** How much the thread that reads may take: an export that takes more ends it. */
export interface ReadingLimits {
  /** Of heap. The dearest exports take a fifth of it. */
  readonly megabytes: number;
  /** For one export, in milliseconds; the dearest take one second of CPU, which a busy machine gives them late. */
  readonly ms: number;
}

const READING_LIMITS: ReadingLimits = { megabytes: 512, ms: 30_000 };
/** Heap of the thread that keeps what was read: it is bounded already. */
const KEEPING_MEGABYTES = 1_024;
/** How long the threads are kept without an export: their memory goes with them. */
const IDLE_MS = 10_000;

/** The threads start with the first long export. */
export function createApart(options: ApartOptions): Apart {
  const { peers, retentionDays, place, quota } = options;
  const { megabytes, ms } = options.reading ?? READING_LIMITS;
  const slots = new Slots(options.slots ?? EXPORT_LIMITS);
  const reader = createThread<ReadingMethods>(new URL("apart/reading.js", import.meta.url), {
    ...{ megabytes, ms, idleMs: IDLE_MS },
  });
  const keeper = createThread<KeepingMethods>(new URL("apart/keeping.js", import.meta.url), {
    megabytes: KEEPING_MEGABYTES,
  });
  const [readOne, keepOne] = [pLimit(1), pLimit(1)];
  let idle: NodeJS.Timeout | undefined;
  let isKeeping = false;
  let isClosed = false;

  async function read(unread: Unread, signal: AbortSignal): Promise<ReadApart> {
    if (signal.aborted) throw gone();
    // A thread finishes an export even if its caller has gone: the next one waits for it.
    const bytes = movable(unread.bytes);
    try {
      const asked = { bytes, encoding: unread.encoding, retentionDays };
      return await reader.call("read", asked, [bytes.buffer as ArrayBuffer]);
    } catch (error) {
      if (isClosed) throw unavailable("the service is closing: send it again");
      if (error instanceof ThreadStuckError)
        throw invalidArgument(`the export takes more than ${ms / 1_000} seconds to read: send fewer spans at once`);
      if (error instanceof ThreadEndedError)
        throw invalidArgument("the export takes too much memory to read: send fewer spans at once");
      throw fromThread(error as Error);
    }
  }

  async function write({ traces, owner }: ReadApart, usable: readonly string[], call: Call): Promise<Rejects> {
    if (call.signal.aborted) throw gone();
    const asked = {
      place,
      quota,
      traces,
      usable,
      sender: senderOf(call.caller, owner),
      expiresAt: endOf(retentionDays),
    };
    isKeeping = true;
    try {
      return await keeper.call("keep", asked, [traces.buffer as ArrayBuffer], call.signal);
    } catch (error) {
      if (call.signal.aborted) throw gone();
      if (error instanceof ThreadEndedError)
        throw unavailable("not all spans were saved: send the export again", error);
      throw fromThread(error as Error);
    }
  }

  /** It closes what it has open: a thread that is ended would leave its place among the readers of the store taken. */
  async function endKeeper(): Promise<void> {
    if (!isKeeping) return;
    isKeeping = false;
    await keeper.call("close", undefined as never).catch(() => undefined);
    await keeper.close("it was idle");
  }

  function rest(): void {
    clearTimeout(idle);
    idle = setTimeout(() => {
      if (keepOne.activeCount + keepOne.pendingCount === 0) void keepOne(endKeeper);
    }, IDLE_MS).unref();
  }

  return {
    async keep(unread, call) {
      // Counted now: the bytes move to another thread.
      const { length } = unread.bytes;
      const slot = takeExportSlot(slots, call.caller.id, length);
      try {
        const apart = await readOne(() => read(unread, call.signal));
        const usable = [...(await usableAgents(peers, call, apart.agents))];
        const { count, reasons } = await keepOne(() => write(apart, usable, call));
        // The store is read here as it was when this turn began: who is answered now asks in a later one.
        await sleep(1);
        return { count: apart.rejected + count, reasons: new Set([...apart.reasons, ...reasons]) };
      } finally {
        slot.free(length);
        rest();
      }
    },
    async close() {
      isClosed = true;
      clearTimeout(idle);
      await reader.close("the service is closing");
      await keepOne(endKeeper);
    },
  };
}

function gone(): Error {
  return canceled("the sender disconnected: to save the remaining spans, send the same export again");
}
