import type { Known } from "../../services/shared/credentials/known.js";
import { both } from "../../services/shared/limits/both-slots.js";
import { holderOf } from "../../services/shared/limits/holder.js";
import { type NoSlot, type Slot, Slots } from "../../services/shared/limits/slots.js";
import type { Arrival } from "./admit.js";

/**
 * The slots of requests in flight. Requests that are admitted, those that wait to be
 * verified and those that are refused never take slots from each other.
 */
export interface RequestSlots {
  /** For the running calls of tools of each key. */
  readonly calls: Slots;
  /** For a request that was admitted: counted for its key and, once slots are crowded, for its address. */
  admitted(known: Known, arrival: Arrival): Slot | NoSlot;
  /** For a request whose token is being verified, counted for its address. */
  waiting(arrival: Arrival): Slot | NoSlot;
  /** For a request that is refused and read for its id alone, counted for its address. */
  refused(arrival: Arrival): Slot | NoSlot;
  /** The same for an admitted caller who has a share already, counted for the key. */
  refusedOf(known: Known): Slot | NoSlot;
  /** For a registration, whose token is verified with its body; counted for its address. */
  registering(arrival: Arrival): Slot | NoSlot;
  /** For what a browser or a client sends to sign in, counted for its address. */
  signingIn(arrival: Arrival): Slot | NoSlot;
}

/** How many slots one façade worker has. */
export interface RequestSlotsOptions {
  /** Admitted requests in flight. */
  readonly inFlight: number;
  /** The address of the client: behind proxies not that of the connection. */
  readonly addressOf: (arrival: Arrival) => string;
}

const MIB = 1 << 20;

/** Slots whose number is the same in every deployment. */
const LIMITS = {
  refused: { total: 256, perHolder: 64, bytes: 32 * MIB, bytesPerHolder: 8 * MIB },
  registering: { total: 64, perHolder: 8, bytes: 4 * MIB },
  signingIn: { total: 128, perHolder: 32, bytes: 8 * MIB, bytesPerHolder: 4 * MIB },
};

/** Parts of the slots, and of the bytes, that one holder has. */
const SHARES = { key: 1 / 4, address: 1 / 2, waiting: 3 / 4 };
/** From this part of the slots on they are crowded: before, the address of an admitted request is not asked for. */
const CROWDED = 1 / 4;
/** Bytes of bodies that are kept of admitted requests, and of those that wait to be verified. */
const BYTES = { admitted: 256 * MIB, waiting: 64 * MIB };

/** Makes the slots of one façade worker. */
export function createRequestSlots({ inFlight, addressOf }: RequestSlotsOptions): RequestSlots {
  const part = (share: number): number => Math.max(1, Math.floor(inFlight * share));
  const shared = (share: number, bytes: number, crowded?: number): Slots =>
    new Slots({
      total: inFlight,
      perHolder: part(share),
      bytes,
      bytesPerHolder: bytes * share,
      ...(crowded !== undefined && { crowded }),
    });
  const keys = shared(SHARES.key, BYTES.admitted, part(CROWDED));
  const addresses = shared(SHARES.address, BYTES.admitted);
  const waiting = shared(SHARES.waiting, BYTES.waiting);
  const refused = new Slots(LIMITS.refused);
  const registering = new Slots(LIMITS.registering);
  const signingIn = new Slots(LIMITS.signingIn);

  return {
    calls: new Slots({ total: inFlight, perHolder: part(SHARES.key) }),
    admitted({ caller }, arrival) {
      const ofKey = keys.take(holderOf(caller));
      if (typeof ofKey === "string" || !keys.isCrowded) return ofKey;
      return both(ofKey, addresses.take(addressOf(arrival)));
    },
    waiting: (arrival) => waiting.take(addressOf(arrival)),
    refused: (arrival) => refused.take(addressOf(arrival)),
    refusedOf: ({ caller }) => refused.take(holderOf(caller)),
    registering: (arrival) => registering.take(addressOf(arrival)),
    signingIn: (arrival) => signingIn.take(addressOf(arrival)),
  };
}
