import { AuditKind } from "#proto/auth/v1/audit_service_pb.js";
import type { Context } from "../context.js";
import { emailOf } from "../identity.js";
import type { UserRecord } from "../store.js";
import type { SignInRefusedError } from "./refusal.js";

type Needs = Pick<Context, "auditor">;

/** Longest target of a record. */
const MAX_TARGET = 254;

/** Writes down that somebody was not signed in, and why. The target is the provider and the subject there. */
export function noteRefusal({ auditor }: Needs, providerId: string, { reason, about }: SignInRefusedError): void {
  auditor?.note({
    kind: AuditKind.REFUSAL,
    userId: about.userId ?? "",
    userEmail: (about.email ?? "").slice(0, MAX_TARGET),
    keyId: "",
    action: "federated_sign_in",
    target: targetOf(providerId, about.subject),
    outcome: reason,
    count: 1,
  });
}

/** Writes down what a sign-in changed: an identity that was linked, a user that was created, groups that were set. */
export function noteChange(
  { auditor }: Needs,
  action: "link_identity" | "user_created" | "map_groups" | "keep_last_administrator",
  user: UserRecord,
  { providerId, subject, changes = [] }: { providerId: string; subject: string; changes?: readonly string[] },
): void {
  auditor?.note({
    kind: AuditKind.ADMINISTRATION,
    userId: user._id,
    userEmail: emailOf(user),
    keyId: "",
    action,
    target: targetOf(providerId, subject),
    arguments: changes.slice(0, MAX_CHANGES).map((change) => change.slice(0, MAX_CHANGE)),
    outcome: "ok",
    count: 1,
  });
}

const MAX_CHANGES = 64;
const MAX_CHANGE = 100;

function targetOf(providerId: string, subject = ""): string {
  return `${providerId}/${subject}`.replace(/\/$/, "").slice(0, MAX_TARGET);
}
