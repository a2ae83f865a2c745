import type { Account } from "./account.js";
import type { Thing } from "./thing.js";

/** Whether an account holds a capability, or one that implies it. */
export function can(account: Account, capability: string): boolean {
  return account.capabilities.some((held) => held === "BYPASS" || held.startsWith(capability));
}

/** Whether an account may see an element in a draft, or live: its clearance covers every marking. */
export function isVisible(thing: Thing, account: Account, draft: string | undefined): boolean {
  if (thing.draft !== undefined && thing.draft !== draft) return false;
  return thing.refs.markings.every((id) => maySet(id, account));
}

/** Whether an account is cleared for a marking, by its id, and so may set it. */
export function maySet(marking: string, account: Account): boolean {
  return account.capabilities.includes("BYPASS") || account.allowed.has(marking);
}
