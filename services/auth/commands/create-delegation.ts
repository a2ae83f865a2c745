import { randomBytes } from "node:crypto";
import type { CreateDelegationRequest } from "#proto/auth/v1/delegation_service_pb.js";
import { permissionDenied } from "../../shared/rpc/errors.js";
import { SERVICE_NAMES } from "../../shared/rpc/service.js";
import { currentCaller, verifyOwn } from "../authenticator.js";
import type { Context } from "../context.js";
import { delegationId } from "../delegations.js";
import { DELEGATED } from "../scopes.js";

const BYTES = 32;

/** Keeps that a caller who is present had work begun, with no more than the caller's scopes. */
export async function createDelegation(
  { store, assertionRing, verification }: Context,
  { subjectToken, withoutKey, ttlSeconds }: CreateDelegationRequest,
): Promise<{ delegation: string }> {
  const claims = await verifyOwn(subjectToken, assertionRing, SERVICE_NAMES);
  const { caller } = await currentCaller(claims, verification);
  if (caller.service) throw permissionDenied("a service account has nothing done in its name");
  const delegation = randomBytes(BYTES).toString("base64url");
  const now = Date.now();
  await store.delegations.insertOne({
    _id: delegationId(delegation),
    user_id: caller.id,
    key_id: withoutKey ? "" : caller.keyId,
    scopes: [...caller.scopes].filter((scope) => scope !== DELEGATED),
    created_at: new Date(now),
    expires_at: ttlSeconds === 0 ? null : new Date(now + ttlSeconds * 1_000),
  });
  return { delegation };
}
