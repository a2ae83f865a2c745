import { exhaustedFor } from "../shared/limits/refusal.js";
import type { Slot, SlotLimits, Slots } from "../shared/limits/slots.js";

/** Long exports that wait at once for the threads that read and keep them: of one sender, two of the longest. */
export const EXPORT_LIMITS: SlotLimits = {
  total: 128,
  perHolder: 8,
  bytes: 128 << 20,
  bytesPerHolder: 36 << 20,
};

/** When to send an export again for which there is no slot, in seconds. */
const RETRY_S = 5;

/**
 * Takes a slot for an export of a sender.
 *
 * @throws ConnectError resource_exhausted, with when to send again.
 */
export function takeExportSlot(slots: Slots, sender: string, bytes: number): Slot {
  const slot = slots.take(sender, bytes);
  if (typeof slot !== "string") return slot;
  const many = slot === "share" ? "too many of your exports" : "too many exports";
  throw exhaustedFor(`${many} are in progress: wait ${RETRY_S} s, then send this one again`, RETRY_S);
}
