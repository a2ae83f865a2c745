import type { Caller } from "../shared/rpc/call.js";

// Who may do what to an object, in one table. A gate and a MongoDB filter both
// ask whether one of the caller's keys is among the object's locks, so that a
// list cannot show what a gate refuses.
//
//                 view        config        manage
//   builtin       everyone    nobody        nobody
//   company       everyone    admins        admins
//   user          the owner, and whom a grant names, up to the grant's tier
//
// The locks are stored with the object as `access`, one string a tier and
// principal, and written together with what they derive from; one index over
// `access` then serves every question.

/** View < config < manage; each holds the ones before it. */
export const TIER = { view: 1, config: 2, manage: 3 } as const;
/** One of {@link TIER}. */
export type Tier = 1 | 2 | 3;

/** From the lowest. */
const TIERS = [TIER.view, TIER.config, TIER.manage] as const;

/** Ships with the product, is managed by administrators, or belongs to a user. */
export type Origin = "builtin" | "company" | "user";

/** Gives a principal a tier: `u:<user id>`, `g:<group id>` or `all`. */
export interface Grant {
  readonly p: string;
  readonly t: Tier;
}

/** What decides who may do what. */
export interface Ownership {
  readonly origin: Origin;
  /** The user's id; "" for what is built in or company-managed. */
  readonly owner: string;
  readonly acl: readonly Grant[];
}

/** An object as it is stored. */
export interface Governed extends Ownership {
  /** Its locks, from {@link accessOf}. */
  readonly access: readonly string[];
}

/** What somebody may or may not do to an object. */
export type Action = "read" | "modify" | "delete" | "share";

/**
 * The tier that an action needs. Sharing needs the highest, so nobody can
 * grant more than they hold.
 */
export const NEEDED: Readonly<Record<Action, Tier>> = {
  read: TIER.view,
  modify: TIER.config,
  delete: TIER.manage,
  share: TIER.manage,
};

const ADMINS = "admins";
const EVERYONE = "all";

/** The locks of an object: stored with it, and written whenever its owner, origin or acl is. */
export function accessOf({ origin, owner, acl }: Ownership): string[] {
  switch (origin) {
    case "builtin":
      return [lock(TIER.view, EVERYONE)];
    case "company":
      return [lock(TIER.view, EVERYONE), ...upTo(TIER.manage, ADMINS)];
    case "user": {
      const owned = owner === "" ? [] : upTo(TIER.manage, `u:${owner}`);
      if (acl.length === 0) return owned;
      return [...new Set([...owned, ...acl.flatMap(({ p, t }) => upTo(t, p))])];
    }
  }
}

/** What decides what somebody may do. */
export type Actor = Pick<Caller, "id" | "groups" | "admin">;

/** Whether the caller may do this to the object. */
export function may(caller: Actor, action: Action, object: Ownership): boolean {
  return opens(caller, NEEDED[action], accessOf(object));
}

/** The highest tier that the caller holds on the object; 0 for none. */
export function tierOf(caller: Caller, object: Ownership): Tier | 0 {
  const locks = accessOf(object);
  return ([TIER.manage, TIER.config, TIER.view] as const).find((tier) => opens(caller, tier, locks)) ?? 0;
}

/** The objects to which the caller may do this; also what goes into a write, so that the gate is inside it. */
export function filterOf(caller: Caller, action: Action): { access: { $in: readonly string[] } } {
  return { access: { $in: keysOf(caller, NEEDED[action]) } };
}

function opens(caller: Actor, tier: Tier, locks: readonly string[]): boolean {
  return keysOf(caller, tier).some((key) => locks.includes(key));
}

function keysOf(actor: Actor, tier: Tier): readonly string[] {
  let held = keys.get(actor);
  if (held === undefined) {
    held = TIERS.map((one) => keysMade(actor, one));
    keys.set(actor, held);
  }
  return held[tier - 1] as readonly string[];
}

/** The keys of callers by tier: a caller is asked about for each row of a list. */
const keys = new WeakMap<Actor, readonly (readonly string[])[]>();

function keysMade({ id, groups, admin }: Actor, tier: Tier): string[] {
  const principals = [EVERYONE, ...groups.map((group) => `g:${group}`)];
  if (id !== "") principals.push(`u:${id}`);
  if (admin) principals.push(ADMINS);
  return principals.map((principal) => lock(tier, principal));
}

function lock(tier: Tier, principal: string): string {
  return `${tier}:${principal}`;
}

function upTo(tier: Tier, principal: string): string[] {
  return TIERS.slice(0, tier).map((t) => lock(t, principal));
}
