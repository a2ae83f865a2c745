import pLimit from "p-limit";
import { ThreadEndedError, ThreadStuckError } from "../../../services/shared/process/asked.js";
import { createThread, movable } from "../../../services/shared/process/thread.js";
import { fromThread, invalidArgument, unavailable } from "../../../services/shared/rpc/errors.js";
import type { ReadingMethods } from "./apart/reading.js";
import type { Cut, Encoding } from "./cut.js";

/** Reads long exports: a thread unpacks them, cuts what is too long, and makes protobuf of JSON. */
export interface ExportReader {
  /**
   * @returns the export as protobuf, of which nobody has looked at more than its shape.
   * @throws ConnectError resource_exhausted for too much, invalid_argument for what is no such message or takes too long
   *   to read, unavailable where there is no memory for it now, or the thread ended with another one.
   */
  read(body: AsyncIterable<Uint8Array>, how: Written): Promise<Cut>;
}

/** How a body is written, and the memory that is counted for it. */
export interface Written {
  readonly encoding: Encoding;
  readonly isPacked: boolean;
  /** Takes bytes of memory, and gives them back where they are less than 0; false where they are not to be had. */
  readonly keep: (bytes: number) => boolean;
}

/** How much the thread may take: an export that takes more ends it. */
export interface ReaderLimits {
  /** Of heap. The dearest exports take a fifth of it. */
  readonly megabytes: number;
  /** To make protobuf of one export, in milliseconds; the dearest take one second of CPU, which a busy machine gives them late. */
  readonly ms: number;
}

const LIMITS: ReaderLimits = { megabytes: 512, ms: 30_000 };
/** How long the thread is kept without an export: its memory goes with it. */
const IDLE_MS = 10_000;
/** Pieces are gathered to this size, in bytes, before they are handed over: each costs a message. */
const PIECE_BYTES = 256 << 10;

/** The thread starts with the first long export. */
export function createExportReader({ megabytes, ms }: ReaderLimits = LIMITS): ExportReader {
  const thread = createThread<ReadingMethods>(new URL("apart/reading.js", import.meta.url), { megabytes, ms });
  // What costs much is done for one at a time, so that it is known which one ended the thread.
  const inTurn = pLimit(1);
  let [begun, open] = [0, 0];
  let idle: NodeJS.Timeout | undefined;

  async function read(body: AsyncIterable<Uint8Array>, { encoding, isPacked, keep }: Written): Promise<Cut> {
    const id = ++begun;
    let kept = 0;
    /** The pieces of a packed body are counted as they come; of what it unpacks to is counted what is kept. */
    const count = (came: number, now: number): void => {
      const more = now - kept;
      kept = now;
      keep(-came);
      if (!keep(more))
        throw unavailable("the service has no memory for this export now: send it again in a few seconds");
    };
    try {
      await thread.call("begin", { id, encoding, isPacked });
      for await (const piece of inParts(body)) {
        const { byteLength } = piece;
        const all = movable(piece);
        count(byteLength, await thread.call("push", { id, piece: all }, [all.buffer as ArrayBuffer]));
      }
      count(0, await thread.call("end", id));
      return await inTurn(() => finish(id));
    } catch (error) {
      if (!(error instanceof ThreadEndedError)) void thread.call("leave", id).catch(() => undefined);
      throw told(error, "another export stopped the thread that reads exports: send this one again");
    }
  }

  async function finish(id: number): Promise<Cut> {
    try {
      return await thread.call("finish", id);
    } catch (error) {
      throw told(error);
    }
  }

  /** @param innocent what is said where the thread ended with another call; without it, this one has ended it. */
  function told(error: unknown, innocent?: string): unknown {
    if (error instanceof ThreadStuckError)
      return invalidArgument(`the export takes more than ${ms / 1_000} seconds to read: send fewer spans at once`);
    if (!(error instanceof ThreadEndedError)) return fromThread(error as Error);
    if (innocent !== undefined) return unavailable(innocent, error);
    return invalidArgument("the export takes too much memory to read: send fewer spans at once");
  }

  return {
    async read(body, how) {
      clearTimeout(idle);
      open++;
      try {
        return await read(body, how);
      } finally {
        if (--open === 0) idle = setTimeout(() => void thread.close("it was idle"), IDLE_MS).unref();
      }
    },
  };
}

/** The same bytes in fewer pieces. */
async function* inParts(body: AsyncIterable<Uint8Array>): AsyncIterable<Uint8Array> {
  let pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of body) {
    pieces.push(piece);
    size += piece.byteLength;
    if (size < PIECE_BYTES) continue;
    yield joined(pieces, size);
    [pieces, size] = [[], 0];
  }
  if (size > 0) yield joined(pieces, size);
}

function joined(pieces: readonly Uint8Array[], size: number): Uint8Array {
  return pieces.length === 1 ? (pieces[0] as Uint8Array) : Buffer.concat(pieces, size);
}
