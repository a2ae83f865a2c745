import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { AuditKind } from "#proto/auth/v1/audit_service_pb.js";
import type {
  ExchangeClientAssertionRequest,
  ExchangeClientAssertionResponseSchema,
} from "#proto/auth/v1/service_account_service_pb.js";
import { exhaustedFor } from "../../shared/limits/refusal.js";
import type { Caller } from "../../shared/rpc/call.js";
import { permissionDenied, unauthenticated } from "../../shared/rpc/errors.js";
import { outcomeOf } from "../../shared/rpc/steps/record.js";
import { ASSERTION_TTL_S } from "../assertion-mint.js";
import type { Context } from "../context.js";
import { findUser } from "../records.js";
import { accountCallerNow, mayActFor, notGranted } from "../service-accounts/acting.js";
import { useOnce, verifyClientAssertion } from "../service-accounts/client-assertion.js";
import type { AuthStore, UserRecord } from "../store.js";

/** Why a user is not found: there is none, or it is no address. */
const UNKNOWN: ReadonlySet<Code> = new Set([Code.NotFound, Code.InvalidArgument]);
const ACTION = "auth.v1.ServiceAccountService/ExchangeClientAssertion";

/** Gives a service account that proved who it is what it calls the services with. */
export async function exchangeClientAssertion(
  context: Context,
  { clientAssertion, actFor }: ExchangeClientAssertionRequest,
): Promise<MessageInitShape<typeof ExchangeClientAssertionResponseSchema>> {
  const { store, verification, assertions, exchanges, issuer } = context;
  const verified = await verifyClientAssertion(store, clientAssertion, issuer);
  const { account } = verified;
  try {
    // After the signature: a forger uses up nobody's rate.
    const wait = exchanges.take(account._id);
    if (wait > 0)
      throw exhaustedFor(`${account.login} exchanges too many assertions: keep what an exchange gave`, wait);
    if (account.disabled) throw unauthenticated(`${account.login} is disabled: ask an administrator to enable it`);
    const user = actFor === "" ? account : await actedFor(store, account, actFor);
    const { caller, seq } = await accountCallerNow(account._id, user._id, verification);
    await useOnce(store, verified);
    const expiresAt = Math.floor(Date.now() / 1_000) + ASSERTION_TTL_S;
    const minted = await assertions.mintAll(caller, seq, expiresAt);
    note(context, account, caller, "ok");
    return { assertions: minted, expiresAt: timestampFromMs(expiresAt * 1_000), callerId: caller.id };
  } catch (error) {
    note(context, account, undefined, outcomeOf(error));
    throw error;
  }
}

async function actedFor(store: AuthStore, account: UserRecord, actFor: string): Promise<UserRecord> {
  const isEmail = actFor.includes("@");
  const user = await findUser(store, isEmail ? "" : actFor, isEmail ? actFor : "").catch((error: unknown) => {
    if (UNKNOWN.has(ConnectError.from(error).code)) return undefined;
    throw error;
  });
  if (user === undefined || !mayActFor(account, user)) throw permissionDenied(notGranted(account.login));
  if (user.disabled) throw permissionDenied("the user to act for is disabled: ask an administrator to enable the user");
  return user;
}

function note({ auditor }: Context, account: UserRecord, caller: Caller | undefined, outcome: string): void {
  auditor?.note({
    kind: outcome === "ok" ? AuditKind.READ : AuditKind.REFUSAL,
    userId: caller?.id ?? account._id,
    userEmail: caller?.email ?? "",
    serviceAccount: account.login,
    action: ACTION,
    outcome,
    count: 1,
  });
}
