import type { Incoming } from "../call.js";
import { deadlineExceeded } from "../errors.js";

/** Node's timers fire at once where they are set for longer: 24 days, in milliseconds. */
export const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** @throws ConnectError deadline_exceeded, where the deadline passed before the call began. */
export function checkDeadline({ deadline }: Incoming): void {
  if (deadline !== undefined && deadline <= Date.now()) {
    throw deadlineExceeded("the deadline passed before the call began");
  }
}
