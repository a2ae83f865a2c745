import type { Known } from "../../services/shared/credentials/known.js";
import type { Arrival } from "./admit.js";
import { type NoPlace, type Place, Places } from "./places.js";

/**
 * Where requests are while they are in flight. Who is let in, who waits to be
 * verified and who is being refused never take places from each other.
 */
export interface Rooms {
  /** For the running calls of tools of each key. */
  readonly calls: Places;
  /** For a request that was let in: counted for its key and, once it is crowded, for its address. */
  admitted(known: Known, arrival: Arrival): Place | NoPlace;
  /** For a request whose token is being verified, counted for its address. */
  waiting(arrival: Arrival): Place | NoPlace;
  /** For a request that is refused and read for its id alone, counted for its address. */
  refused(arrival: Arrival): Place | NoPlace;
  /** The same for who was let in and has a share already, counted for the key. */
  refusedOf(known: Known): Place | NoPlace;
  /** For a registration, whose token is verified with what it says; counted for its address. */
  registering(arrival: Arrival): Place | NoPlace;
  /** For what a browser or a client sends to sign in, counted for its address. */
  signingIn(arrival: Arrival): Place | NoPlace;
}

/** How much room one façade worker has. */
export interface RoomsOptions {
  /** Requests in flight of those who were let in. */
  readonly inFlight: number;
  /** Where the client is: behind proxies not the address of the connection. */
  readonly addressOf: (arrival: Arrival) => string;
}

/** Parts of all places, and of all bytes, that one key has. */
const KEY_SHARE = 1 / 4;
/** Parts of all places that one address has, of those that are counted for addresses. */
const ADDRESS_SHARE = 1 / 2;
/** From this part of all places on it is crowded: before, nobody's address is asked for. */
const CROWDED = 1 / 4;
/** Bytes of bodies that are kept of those who were let in. */
const ADMITTED_BYTES = 256 << 20;
/** Parts of the waiting places that one address has: several clients start at once behind one. */
const WAITING_SHARE = 3 / 4;
/** Bytes of bodies that are kept before it is known who sends them. */
const WAITING_BYTES = 64 << 20;
/** Requests that are read for their id alone, of all and of one address. */
const REFUSED_PLACES = 256;
const REFUSED_SHARE = 64;
/** Bytes that are kept of them. */
const REFUSED_BYTES = 32 << 20;
/** Registrations at once, of all and of one address, and what is kept of them. */
const REGISTERING_PLACES = 64;
const REGISTERING_SHARE = 8;
const REGISTERING_BYTES = 4 << 20;
/** Requests to the authorization server at once, of all and of one address, and what is kept of them. */
const SIGN_IN_PLACES = 128;
const SIGN_IN_SHARE = 32;
const SIGN_IN_BYTES = 8 << 20;

/** Builds the rooms of one façade worker. */
export function createRooms({ inFlight, addressOf }: RoomsOptions): Rooms {
  const part = (share: number, of: number): number => Math.max(1, Math.floor(of * share));
  const keys = new Places({
    total: inFlight,
    share: part(KEY_SHARE, inFlight),
    bytes: ADMITTED_BYTES,
    shareOfBytes: ADMITTED_BYTES * KEY_SHARE,
  });
  const addresses = new Places({
    total: inFlight,
    share: part(ADDRESS_SHARE, inFlight),
    bytes: ADMITTED_BYTES,
    shareOfBytes: ADMITTED_BYTES * ADDRESS_SHARE,
  });
  const waiting = new Places({
    total: inFlight,
    share: part(WAITING_SHARE, inFlight),
    bytes: WAITING_BYTES,
    shareOfBytes: WAITING_BYTES * WAITING_SHARE,
  });
  const refused = new Places({
    total: REFUSED_PLACES,
    share: REFUSED_SHARE,
    bytes: REFUSED_BYTES,
    shareOfBytes: REFUSED_BYTES / 4,
  });
  const registering = new Places({
    total: REGISTERING_PLACES,
    share: REGISTERING_SHARE,
    bytes: REGISTERING_BYTES,
    shareOfBytes: REGISTERING_BYTES,
  });
  const signingIn = new Places({
    total: SIGN_IN_PLACES,
    share: SIGN_IN_SHARE,
    bytes: SIGN_IN_BYTES,
    shareOfBytes: SIGN_IN_BYTES / 2,
  });
  const crowded = part(CROWDED, inFlight);

  return {
    calls: new Places({ total: inFlight, share: part(KEY_SHARE, inFlight), bytes: 0, shareOfBytes: 0 }),
    admitted(known, arrival) {
      const ofKey = keys.enter(holderOf(known));
      if (typeof ofKey === "string" || keys.taken <= crowded) return ofKey;
      const ofAddress = addresses.enter(addressOf(arrival));
      if (typeof ofAddress !== "string") return new BothPlaces(ofKey, ofAddress);
      ofKey.leave(0);
      return ofAddress;
    },
    waiting: (arrival) => waiting.enter(addressOf(arrival)),
    refused: (arrival) => refused.enter(addressOf(arrival)),
    refusedOf: (known) => refused.enter(holderOf(known)),
    registering: (arrival) => registering.enter(addressOf(arrival)),
    signingIn: (arrival) => signingIn.enter(addressOf(arrival)),
  };
}

function holderOf({ caller }: Known): string {
  return caller.keyId === "" ? caller.id : caller.keyId;
}

/** A place that is counted for a key and for an address. */
class BothPlaces implements Place {
  constructor(
    private readonly ofKey: Place,
    private readonly ofAddress: Place,
  ) {}

  grow(bytes: number): boolean {
    if (!this.ofKey.grow(bytes)) return false;
    if (this.ofAddress.grow(bytes)) return true;
    this.ofKey.grow(-bytes);
    return false;
  }

  leave(bytes: number): void {
    this.ofKey.leave(bytes);
    this.ofAddress.leave(bytes);
  }
}
