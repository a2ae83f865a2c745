import { AuditKind, type AuditRecord } from "#proto/auth/v1/audit_service_pb.js";

/**
 * How records are kept: each kind up to a number of its own, so that none costs another its records, and what
 * administrators do apart from what everybody else does. Records of before `account` and `administrator_write` are
 * `administration` and `write`.
 */
export const AUDIT_KINDS = [
  "administration",
  "account",
  "administrator_write",
  "write",
  "read",
  "refusal",
  "sign_in",
] as const;
/** A kind as it is kept. */
export type AuditKindName = (typeof AUDIT_KINDS)[number];

const KINDS: Readonly<Record<AuditKindName, AuditKind>> = {
  administration: AuditKind.ADMINISTRATION,
  account: AuditKind.ADMINISTRATION,
  administrator_write: AuditKind.WRITE,
  write: AuditKind.WRITE,
  read: AuditKind.READ,
  refusal: AuditKind.REFUSAL,
  sign_in: AuditKind.SIGN_IN,
};

/** The kind under which a record is kept. */
export function keptKindOf({ kind, byAdministrator }: Pick<AuditRecord, "kind" | "byAdministrator">): AuditKindName {
  if (kind === AuditKind.REFUSAL) return "refusal";
  if (kind === AuditKind.SIGN_IN) return "sign_in";
  if (kind === AuditKind.READ) return "read";
  if (kind === AuditKind.ADMINISTRATION) return byAdministrator ? "administration" : "account";
  return byAdministrator ? "administrator_write" : "write";
}

/** What a kept kind is of. */
export function kindOfKept(kind: AuditKindName): AuditKind {
  return KINDS[kind];
}

/** The kinds under which records of a kind are kept; all of them if none is given. */
export function keptKindsOf(kind: AuditKind): AuditKindName[] {
  return AUDIT_KINDS.filter((one) => kind === AuditKind.UNSPECIFIED || KINDS[one] === kind);
}
