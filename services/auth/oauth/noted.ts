import type { KoaContextWithOIDC, Provider } from "oidc-provider";
import { AuditKind } from "#proto/auth/v1/audit_service_pb.js";
import type { Context } from "../context.js";
import { emailOf } from "../identity.js";
import type { UserRecord } from "../store.js";

/** What is written down of a connection. */
export interface Noted {
  readonly action: "connect" | "issue_tokens" | "end_connection";
  /** The grant; "" where there is none. */
  readonly grantId: string;
  readonly outcome: string;
}

type Needs = Pick<Context, "auditor" | "store">;

/** Writes down what somebody did with a connection; undefined for somebody who is not known. */
export function noteConnection(
  { auditor }: Pick<Context, "auditor">,
  user: UserRecord | undefined,
  noted: Noted,
): void {
  auditor?.note({
    kind: noted.outcome === "ok" ? AuditKind.SIGN_IN : AuditKind.REFUSAL,
    userId: user?._id ?? "",
    userEmail: user === undefined ? "" : emailOf(user),
    keyId: noted.grantId,
    action: noted.action,
    target: noted.grantId,
    outcome: noted.outcome,
    count: 1,
  });
}

/** Writes down which tokens are issued, and which are refused. */
export function noteTokens(provider: Provider, needs: Needs): void {
  provider.on("grant.success", (ctx: KoaContextWithOIDC) => void noteIssue(needs, ctx, "ok"));
  provider.on("grant.error", (ctx: KoaContextWithOIDC, error: Error) => void noteIssue(needs, ctx, error.message));
}

async function noteIssue(needs: Needs, { oidc }: KoaContextWithOIDC, outcome: string): Promise<void> {
  if (needs.auditor === undefined) return;
  const grantId = oidc.entities?.Grant?.jti ?? "";
  const userId = oidc.entities?.Account?.accountId;
  // Nothing is lost where the store does not answer: a record without an address is one too.
  const user = userId === undefined ? null : await needs.store.users.findOne({ _id: userId }).catch(() => null);
  noteConnection(needs, user ?? undefined, { action: "issue_tokens", grantId, outcome });
}
