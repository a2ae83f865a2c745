import type { JWTPayload } from "jose";
import type { Caller, CallingAccount } from "../rpc/call.js";

// A caller assertion tells one service who is calling: a JWT signed by auth,
// with the service as its only audience.

/** The `iss` claim of caller assertions. */
export const ASSERTION_ISSUER = "auth";

/** The `typ` header of caller assertions, so that no other JWT of ours can pass for one (RFC 8725 section 3.11). */
export const ASSERTION_TYPE = "caller+jwt";

/** The claims that describe a caller. */
export interface AssertionClaims extends JWTPayload {
  readonly sub: string;
  readonly email: string;
  readonly name: string;
  readonly adm: boolean;
  readonly grp: readonly string[];
  /** Space-separated (RFC 8693 section 4.2). */
  readonly scope: string;
  readonly key: string;
  readonly svc: boolean;
  /** The run that acts as the caller; absent for the caller's own calls. */
  readonly run?: string;
  /** The service account that calls; absent for everybody else. */
  readonly account?: CallingAccount;
  /** The same, where it acts for the user of `sub` (RFC 8693 section 4.1). */
  readonly act?: { readonly sub: string };
  /** The last event that auth had taken account of. */
  readonly seq: number;
}

/** The claims that describe a caller as of an event. */
export function claimsOf(caller: Caller, seq: number): AssertionClaims {
  return {
    sub: caller.id,
    email: caller.email,
    name: caller.name,
    adm: caller.admin,
    grp: caller.groups,
    scope: [...caller.scopes].join(" "),
    key: caller.keyId,
    svc: caller.service,
    ...(caller.run !== undefined && { run: caller.run }),
    ...accountOf(caller),
    seq,
  };
}

function accountOf({ id, account }: Caller): Pick<AssertionClaims, "account" | "act"> {
  if (account === undefined) return {};
  return account.id === id ? { account } : { account, act: { sub: account.name } };
}

/** The caller whom verified claims describe. */
export function callerOfClaims({ sub, email, name, adm, grp, scope, key, svc, run, account }: AssertionClaims): Caller {
  return {
    id: sub,
    email,
    name,
    admin: adm,
    groups: grp,
    scopes: new Set(scope.split(" ")),
    keyId: key,
    service: svc,
    ...(account !== undefined && { account }),
    ...(run !== undefined && { run }),
  };
}
