import type { Caller } from "../shared/rpc/call.js";
import { DAY_MS } from "./days.js";
import type { Sender } from "./quota.js";

/** Whose the spans are: the caller's, or of the user for whom a service of ours tells of a run. */
export function senderOf({ id, service, scopes }: Caller, owner: string | undefined): Sender {
  return scopes.has("internal") && owner !== undefined ? { id: owner, service: false } : { id, service };
}

/** When spans end that are kept now. */
export function endOf(retentionDays: number): Date {
  return new Date(Date.now() + retentionDays * DAY_MS);
}
