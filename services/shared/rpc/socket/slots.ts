import { type Slot, Slots } from "../../limits/slots.js";
import type { Caller } from "../call.js";
import { resourceExhausted } from "../errors.js";

/** How many calls and bytes there may be at once on a port. */
export interface CallSlotLimits {
  /** Calls of one caller. */
  readonly calls: number;
  /** Bytes of messages of one caller that are not yet handed on. */
  readonly bytes: number;
  /** Calls of one address to what is public. */
  readonly publicCalls: number;
  /** Bytes of all messages that are not yet handed on. */
  readonly totalBytes: number;
}

/** The limits of a port that is given no others. */
export const CALL_SLOT_LIMITS: CallSlotLimits = {
  calls: 512,
  // Two of the longest messages, exports of spans, with what frames them.
  bytes: 36 << 20,
  publicCalls: 32,
  totalBytes: 128 << 20,
};

/** The scope of our own processes. */
export const INTERNAL = "internal";

/** The slots of a port: by caller, and by address for what is public. */
export class CallSlots {
  readonly #limits: CallSlotLimits;
  readonly #slots: Slots;

  constructor(limits: CallSlotLimits) {
    this.#limits = limits;
    const { calls, bytes, totalBytes } = limits;
    this.#slots = new Slots({
      total: Number.POSITIVE_INFINITY,
      perHolder: calls,
      bytes: totalBytes,
      bytesPerHolder: bytes,
    });
  }

  /**
   * Takes a slot for a call. Our own processes call for everybody: the number of their calls has no limit.
   *
   * @throws ConnectError resource_exhausted, if the caller has all its slots in use.
   */
  take({ keyId, id, scopes }: Caller, address: string): CallSlot {
    const { calls, publicCalls } = this.#limits;
    const name = keyId !== "" ? `key ${keyId}` : id !== "" ? `user ${id}` : `address ${address}`;
    const most = keyId === "" && id === "" ? publicCalls : calls;
    const slot = this.#slots.take(name, 0, scopes.has(INTERNAL) ? Number.POSITIVE_INFINITY : most);
    if (typeof slot !== "string") return new CallSlot(slot);
    throw resourceExhausted(`you already have ${most} calls in progress: wait until one of them has ended`);
  }
}

/** The slot of one call, with the bytes of its message. */
export class CallSlot {
  readonly #slot: Slot;
  #bytes = 0;
  #isFree = false;

  constructor(slot: Slot) {
    this.#slot = slot;
  }

  /** Takes more bytes. @throws ConnectError resource_exhausted, if the caller, or all callers together, have too many. */
  grow(bytes: number): void {
    if (this.#isFree) return;
    if (!this.#slot.grow(bytes)) {
      throw resourceExhausted(
        "too many bytes are being received at once: try again in a few seconds, with less at a time",
      );
    }
    this.#bytes += bytes;
  }

  /** Gives the bytes back, once the message is handed on. */
  handOn(): void {
    this.#slot.shrink(this.#bytes);
    this.#bytes = 0;
  }

  /** Gives everything back; more than once is once. */
  free(): void {
    if (this.#isFree) return;
    this.#isFree = true;
    this.#slot.free(this.#bytes);
    this.#bytes = 0;
  }
}
