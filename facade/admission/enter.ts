import type { DescMethod } from "@bufbuild/protobuf";
import type { ConnectError } from "@connectrpc/connect";
import type { Known } from "../../services/shared/credentials/known.js";
import { exhausted } from "../../services/shared/limits/refusal.js";
import type { Share } from "../../services/shared/limits/share.js";
import type { Shares } from "../../services/shared/limits/shares.js";
import type { NoSlot, Slot } from "../../services/shared/limits/slots.js";
import { unimplemented } from "../../services/shared/rpc/errors.js";
import { serviceOf } from "../../services/shared/rpc/service.js";
import type { Admit, Arrival, NotAdmitted } from "./admit.js";
import { connectErrorOf, noSlotError } from "./refusals.js";
import type { RequestSlots } from "./slots.js";

/** Who may make one call, and the share that it is run in. */
export interface Entered {
  readonly known: Known;
  readonly share: Share;
}

/** Why a call is not begun. */
export interface Barred {
  readonly barred: NotAdmitted["refused"] | NoSlot | "crowded" | "unserved" | "rate";
  /** Seconds until there is one more; 0 where that is not why. */
  readonly wait: number;
}

/** A request that takes a slot once it is known whose. */
export interface Entrant extends Arrival {
  /** See Exchange. */
  occupy(slot: Slot): boolean;
}

/**
 * Lets a request in for one call of a method: decides from its headers who
 * sends it, gives it a slot and counts the call, before anything of its body is read.
 */
export type Enter = (request: Entrant, method: DescMethod) => Promise<Entered | Barred>;

/** What is asked of a request that calls a method. */
export interface EnterOptions {
  readonly admit: Admit;
  readonly slots: RequestSlots;
  readonly shares: Shares;
}

/** Builds the way in for requests that each call one method, whatever they are written in. */
export function createEnter({ admit, slots, shares }: EnterOptions): Enter {
  return async (request, method) => {
    const admission = admit(request);
    if (admission instanceof Promise) {
      const waiting = slots.waiting(request);
      if (typeof waiting === "string") return barred("crowded");
      request.occupy(waiting);
    }
    const known = await admission;
    if ("refused" in known) return barred(known.refused);
    const slot = slots.admitted(known, request);
    if (typeof slot === "string") return barred(slot);
    if (!request.occupy(slot)) return barred("full");
    if (known.assertions[serviceOf(method) ?? ""] === undefined) return barred("unserved");
    const share = shares.of(known.caller);
    const wait = shares.take(share);
    return wait > 0 ? barred("rate", wait) : { known, share };
  };
}

function barred(why: Barred["barred"], wait = 0): Barred {
  return { barred: why, wait };
}

/** What is told of a call that is not begun, with the codes that services use. */
export function entryError({ barred: why, wait }: Barred): ConnectError {
  switch (why) {
    case "rate":
      return exhausted(wait);
    case "unserved":
      return unimplemented("this deployment does not serve this rpc");
    case "share":
    case "full":
      return noSlotError(why);
    case "crowded":
      return connectErrorOf("unavailable");
    default:
      return connectErrorOf(why);
  }
}

/** Whether the caller that is refused so is unauthenticated. */
export function isUnauthenticated({ barred: why }: Barred): boolean {
  return !OF_THE_KNOWN.has(why);
}

const OF_THE_KNOWN: ReadonlySet<Barred["barred"]> = new Set<Barred["barred"]>([
  "share",
  "full",
  "unserved",
  "unavailable",
  "rate",
]);
