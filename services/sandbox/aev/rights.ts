import { Bare, refusal } from "./replies.js";
import type { GrantLevel, User, World } from "./world.js";

/** Who asks, in which tenant. */
export interface Actor {
  readonly user: User;
  /** The tenant of the path; the default one for a path without. */
  readonly tenant: string;
}

const LEVELS: readonly GrantLevel[] = ["OBSERVER", "PLANNER", "LAUNCHER"];

/** Whether the caller holds a capability in the tenant of the request. */
export function holds({ user, tenant }: Actor, capability: string): boolean {
  return user.admin || user.capabilities.get(tenant)?.has(capability) === true;
}

/** Whether the caller may do with one object what a capability or a grant on it allows. */
export function may(actor: Actor, capability: string, id: string, level: GrantLevel): boolean {
  const granted = actor.user.grants.get(id);
  return holds(actor, capability) || (granted !== undefined && LEVELS.indexOf(granted) >= LEVELS.indexOf(level));
}

/** @throws Bare 403. Rights come before existence, so this says nothing of whether there is such an object. */
export function need(allowed: boolean): void {
  if (!allowed) throw new Bare(403);
}

/** @throws Refusal 403, also for tenants that do not exist and for administrators. */
export function needTenant(world: World, user: User, tenant: string): void {
  if (!world.tenants.has(tenant) || !user.tenants.includes(tenant)) throw refusal(403, "TENANT_ACCESS_DENIED");
}
