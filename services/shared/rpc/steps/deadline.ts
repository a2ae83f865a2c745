import type { Incoming } from "../call.js";
import { deadlineExceeded } from "../errors.js";

/** @throws ConnectError deadline_exceeded, where the deadline passed before the call began. */
export function checkDeadline({ deadline }: Incoming): void {
  if (deadline !== undefined && deadline <= Date.now()) {
    throw deadlineExceeded("the deadline passed before the call began");
  }
}
