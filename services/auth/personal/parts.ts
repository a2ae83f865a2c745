import { along, few, type PersonalPart } from "../../shared/personal/export-page.js";
import { AUDIT_KINDS } from "../audit-kinds.js";
import type { AuthStore, UserRecord } from "../store.js";

/** What auth holds about a person. @param user undefined if there is no such user, or no longer. */
export function partsOf(
  { users, groups, keys, sessions, grants, identities, delegations, audit }: AuthStore,
  id: string,
  user: UserRecord | undefined,
): readonly PersonalPart[] {
  const parts: PersonalPart[] = [
    {
      kind: "user",
      without: ["password_hash", "account"],
      read: (after) => few(users.find({ _id: id }).toArray(), after),
    },
    {
      kind: "group",
      read: (after) => few(groups.find({ _id: { $in: [...(user?.groups ?? [])] } }).toArray(), after),
    },
    {
      kind: "api_key",
      without: ["hash", "check"],
      read: (after) =>
        along(keys, { by: { user_id: id }, index: "api_keys_user", order: "serial", direction: -1 }, after),
    },
    {
      kind: "connection",
      read: (after) =>
        along(grants, { by: { user_id: id }, index: "grants_user", order: "serial", direction: -1 }, after),
    },
    { kind: "session", read: (after) => few(sessions.find({ user_id: id }).toArray(), after) },
    { kind: "identity", read: (after) => few(identities.find({ user_id: id }).toArray(), after) },
    // Their ids are digests of what acts for the person.
    { kind: "delegation", read: (after) => few(delegations.find({ user_id: id }).toArray(), after) },
  ];
  if (user === undefined) return parts;
  return [
    ...parts,
    ...AUDIT_KINDS.map((kind) => ({
      kind: "audit_record",
      without: ["previous"],
      read: (after: string) =>
        along(audit, { by: { user_email: user.login, kind }, index: "user", order: "_id", direction: -1 }, after),
    })),
  ];
}
