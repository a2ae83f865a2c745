import type { IncomingMessage } from "node:http";
import type { Http2ServerRequest } from "node:http2";
import { canceled, deadlineExceeded, resourceExhausted } from "../errors.js";
import type { MessageLimits } from "./message-limits.js";
import type { CallSlot } from "./slots.js";

/** A request of either version of HTTP. */
export type NodeRequest = IncomingMessage | Http2ServerRequest;

/** An envelope's flags and length, in bytes (connectrpc.com/docs/protocol, gRPC over HTTP/2). */
const ENVELOPE = 5;
/** From this size on, in bytes, a body is checked while it arrives, and again whenever it has doubled. */
const LOOKED_AT = 256 << 10;
/** From this size on, in bytes, it is not checked again until it is whole: a body of too many parts shows that sooner. */
const LOOKED_AT_LAST = 1 << 20;
/** Chunks of a body may be small, but not all of them: each costs a turn. */
const FREE_CHUNKS = 1_024;
const BYTES_A_CHUNK = 256;

/**
 * The body of a call that takes one message, in one piece once it is complete.
 * It reads nothing until it is asked to.
 *
 * @param check is given what has come of a long one, and throws where that is too much already.
 * @throws ConnectError resource_exhausted, deadline_exceeded or canceled, as bytes, time and client have it.
 */
export async function* wholeBody(
  request: NodeRequest,
  limits: MessageLimits,
  slot: CallSlot,
  check: (begun: Uint8Array) => void,
): AsyncIterable<Uint8Array> {
  const bytes = await collect(request, limits, slot, check);
  slot.handOn();
  yield bytes;
}

/**
 * The body of a call that takes a stream of messages, chunk by chunk.
 *
 * @param silent is called when the client has sent nothing for `idleMs`.
 */
export async function* liveBody(request: NodeRequest, idleMs: number, silent: () => void): AsyncIterable<Uint8Array> {
  const timer = setTimeout(silent, idleMs);
  // Of a call that has ended nobody reads on.
  request.once("close", () => clearTimeout(timer));
  try {
    for await (const chunk of request) {
      timer.refresh();
      yield chunk;
    }
  } finally {
    clearTimeout(timer);
  }
}

/** What is known of a body's length before it comes; undefined where its headers do not say. */
export function announced({ headers }: NodeRequest): number | undefined {
  const length = headers["content-length"];
  return length === undefined ? undefined : Number(length);
}

/** @throws ConnectError resource_exhausted, where the headers say already that a body is too long. */
export function checkAnnounced(request: NodeRequest, { bytes }: MessageLimits): void {
  if ((announced(request) ?? 0) > bytes + ENVELOPE) throw tooLong(bytes);
}

function collect(
  request: NodeRequest,
  { bytes: most, bodyMs }: MessageLimits,
  slot: CallSlot,
  check: (begun: Uint8Array) => void,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let bytes = 0;
    let count = 0;
    let lookedAt = LOOKED_AT;
    const finish = (settle: () => void): void => {
      clearTimeout(timer);
      request.off("data", onData).off("end", onEnd).off("close", onClose);
      settle();
    };
    const fail = (error: Error): void =>
      finish(() => {
        request.pause();
        reject(error);
      });
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
      chunks.push(chunk);
      count++;
      try {
        if (bytes > most + ENVELOPE) throw tooLong(most);
        if (count > FREE_CHUNKS + bytes / BYTES_A_CHUNK) throw tooFine();
        slot.grow(chunk.length);
        if (bytes < lookedAt) return;
        lookedAt = bytes < LOOKED_AT_LAST ? 2 * bytes : Number.POSITIVE_INFINITY;
        const begun = Buffer.concat(chunks);
        check(begun);
        chunks = [begun];
      } catch (error) {
        fail(error as Error);
      }
    };
    const onEnd = (): void =>
      finish(() => resolve(chunks.length === 1 ? (chunks[0] as Buffer) : Buffer.concat(chunks)));
    const onClose = (): void => fail(canceled("the client went away"));
    const timer = setTimeout(
      () => fail(deadlineExceeded(`the message was not complete within ${bodyMs / 1_000} s: send it faster`)),
      bodyMs,
    );
    request.on("data", onData).on("end", onEnd).on("close", onClose);
  });
}

const tooLong = (most: number) =>
  resourceExhausted(`the message is longer than ${most} bytes, the limit of this rpc: send less at once`);
const tooFine = () => resourceExhausted("the message arrives in too many small pieces: send larger frames");
