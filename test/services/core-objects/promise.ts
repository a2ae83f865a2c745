import type { Action, Ownership } from "../../../services/core-objects/policy.js";
import type { Caller } from "../../../services/shared/rpc/call.js";

/** The promise of who may do what in plain words, written without the locks. */
export function promised(
  who: Pick<Caller, "id" | "groups" | "admin">,
  action: Action,
  { origin, owner, acl }: Ownership,
): boolean {
  if (origin === "builtin") return action === "read";
  if (origin === "company") return action === "read" || who.admin;
  if (owner !== "" && owner === who.id) return true;
  const enough = { read: ["1", "2", "3"], modify: ["2", "3"], delete: ["3"], share: ["3"] }[action];
  return acl.some(({ p, t }) => {
    const [kind, name] = p.split(":");
    const meant = p === "all" || (kind === "u" && name === who.id) || (kind === "g" && who.groups.includes(name!));
    return meant && enough.includes(String(t));
  });
}
