import type { Caller } from "../call.js";
import { resourceExhausted } from "../errors.js";

/** What may be under way at once on a port. */
export interface PlaceLimits {
  /** Calls of one caller. */
  readonly calls: number;
  /** Bytes of messages of one caller that are not yet handed on. */
  readonly bytes: number;
  /** Calls of one address to what is public. */
  readonly publicCalls: number;
  /** Bytes of all messages that are not yet handed on. */
  readonly totalBytes: number;
}

/** What holds where nothing else is said. */
export const PLACE_LIMITS: PlaceLimits = {
  calls: 512,
  // Two of the longest messages, exports of spans, with what frames them.
  bytes: 36 << 20,
  publicCalls: 32,
  totalBytes: 128 << 20,
};

/** The scope of our own processes. */
export const INTERNAL = "internal";

interface Share {
  calls: number;
  bytes: number;
}

/** The place of one call. */
export interface Place {
  /** Takes more bytes. @throws ConnectError resource_exhausted, where the caller's share or all there is are taken. */
  take(bytes: number): void;
  /** Gives the bytes back, once the message is handed on. */
  handOn(): void;
  /** Gives everything back; more than once is once. */
  leave(): void;
}

/** Shares out calls and bytes by caller, and by address where nobody is known to call. */
export class Places {
  readonly #limits: PlaceLimits;
  readonly #shares = new Map<string, Share>();
  #bytes = 0;

  constructor(limits: PlaceLimits) {
    this.#limits = limits;
  }

  /**
   * Our own processes call for everybody: they have no share to keep to.
   *
   * @throws ConnectError resource_exhausted, where the caller's share of calls is taken.
   */
  enter({ keyId, id, scopes }: Caller, address: string): Place {
    const name = keyId !== "" ? `key ${keyId}` : id !== "" ? `user ${id}` : `address ${address}`;
    const isPublic = keyId === "" && id === "";
    let share = this.#shares.get(name);
    if (share === undefined) {
      share = { calls: 0, bytes: 0 };
      this.#shares.set(name, share);
    }
    const most = isPublic ? this.#limits.publicCalls : this.#limits.calls;
    if (share.calls >= most && !scopes.has(INTERNAL)) {
      throw resourceExhausted(`you already have ${most} calls in progress: wait until one of them has ended`);
    }
    share.calls++;
    return this.#place(name, share);
  }

  #place(name: string, share: Share): Place {
    let taken = 0;
    let isOver = false;
    const handOn = (): void => {
      share.bytes -= taken;
      this.#bytes -= taken;
      taken = 0;
    };
    return {
      take: (bytes) => {
        if (isOver) return;
        if (share.bytes + bytes > this.#limits.bytes || this.#bytes + bytes > this.#limits.totalBytes) {
          throw resourceExhausted(
            "too many bytes are being received at once: try again in a few seconds, with less at a time",
          );
        }
        taken += bytes;
        share.bytes += bytes;
        this.#bytes += bytes;
      },
      handOn,
      leave: () => {
        if (isOver) return;
        isOver = true;
        handOn();
        if (--share.calls === 0) this.#shares.delete(name);
      },
    };
  }
}
