import { type Slot, Slots } from "../shared/limits/slots.js";
import { counter } from "../shared/metrics/metrics.js";
import { resourceExhausted } from "../shared/rpc/errors.js";

const refusedCalls = counter(
  "sallyport_platform_calls_refused_total",
  "Calls that found no slot at their platform, by server and by limit: PLATFORM_CALLS or PLATFORM_CALLS_PER_KEY.",
  ["server", "limit"],
);

/** How many calls may run at one platform. */
export interface PlatformSlotLimits {
  readonly perPlatform: number;
  /** Of one key. */
  readonly perKey: number;
}

/** Slots of calls, by platform: a platform that hangs keeps its own slots and those of no other. */
export class PlatformSlots {
  readonly #limits: PlatformSlotLimits;
  readonly #slots = new Map<string, Slots>();

  constructor(limits: PlatformSlotLimits) {
    this.#limits = limits;
  }

  /**
   * Takes a slot at a platform for a call of a key.
   *
   * @throws ConnectError resource_exhausted, if there is none.
   */
  take(server: string, key: string): Slot {
    const { perPlatform, perKey } = this.#limits;
    let ofPlatform = this.#slots.get(server);
    if (ofPlatform === undefined) {
      ofPlatform = new Slots({ total: perPlatform, perHolder: perKey });
      this.#slots.set(server, ofPlatform);
    }
    const slot = ofPlatform.take(key);
    if (typeof slot === "string")
      refusedCalls.of(server, slot === "share" ? "PLATFORM_CALLS_PER_KEY" : "PLATFORM_CALLS").add();
    if (slot === "share") {
      throw resourceExhausted(
        `${perKey} calls with this API key are running at the ${server} platform, which is the limit: call again when one has ended`,
      );
    }
    if (slot === "full") {
      throw resourceExhausted(
        `${perPlatform} calls are running at the ${server} platform, which is the limit: call again in a few seconds`,
      );
    }
    return slot;
  }
}
