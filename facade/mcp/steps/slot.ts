import { noSlotRefusal } from "../../admission/refusals.js";
import type { McpRequest, StepResult } from "../request.js";

/** Takes a slot for an admitted request, in place of the one that it may have waited in. */
export function takeSlot(request: McpRequest): StepResult {
  const { exchange, known, serving } = request;
  const slot = serving.slots.admitted(known, exchange);
  const why = typeof slot === "string" ? slot : exchange.occupy(slot) ? undefined : "full";
  if (why === undefined) return undefined;
  if (!request.isRead) {
    // Answered when there is time: its sender has requests in progress, and sends it again.
    exchange.postpone();
    request.isOverShare = true;
  }
  return noSlotRefusal(why);
}
