import { randomBytes } from "node:crypto";
import type { MessageInitShape } from "@bufbuild/protobuf";
import type { CreateDelegationRequest, CreateDelegationResponseSchema } from "#proto/auth/v1/delegation_service_pb.js";
import { permissionDenied } from "../../shared/rpc/errors.js";
import { SERVICE_NAMES } from "../../shared/rpc/service.js";
import { currentCaller, verifyOwn } from "../authenticator.js";
import type { Context } from "../context.js";
import { delegationId, forgetOlder } from "../delegations.js";
import { DELEGATED } from "../scopes.js";

const BYTES = 32;

/** Keeps that a caller who is present had work begun, with no more than the caller's scopes. */
export async function createDelegation(
  { store, assertionRing, verification }: Context,
  { subjectToken, withoutKey, ttlSeconds, scheduleId, scheduleName }: CreateDelegationRequest,
): Promise<MessageInitShape<typeof CreateDelegationResponseSchema>> {
  const claims = await verifyOwn(subjectToken, assertionRing, SERVICE_NAMES);
  const { caller } = await currentCaller(claims, verification);
  if (caller.service || caller.account !== undefined)
    throw permissionDenied("a service account cannot start runs or set schedules: use the API key of a user");
  if (caller.run !== undefined)
    throw permissionDenied("a run cannot start another run or set a schedule: call this tool outside of a run");
  const delegation = randomBytes(BYTES).toString("base64url");
  const now = Date.now();
  // What is begun at the console outlives the person's stay there.
  const isAtConsole = (await store.sessions.findOne({ _id: caller.keyId }, { projection: { _id: 1 } })) !== null;
  const keyId = isAtConsole ? "" : caller.keyId;
  const schedule =
    scheduleId === "" ? {} : { schedule_id: scheduleId, schedule_name: scheduleName, schedule_key: keyId };
  await store.delegations.insertOne({
    _id: delegationId(delegation),
    user_id: caller.id,
    key_id: withoutKey ? "" : keyId,
    scopes: [...caller.scopes].filter((scope) => scope !== DELEGATED),
    created_at: new Date(now),
    expires_at: ttlSeconds === 0 ? null : new Date(now + ttlSeconds * 1_000),
    ...schedule,
  });
  if (scheduleId === "") return { delegation };
  await forgetOlder(store, caller.id, { schedule_id: scheduleId });
  const key = await store.keys.findOne({ _id: keyId }, { projection: { name: 1 } });
  return { delegation, ...(key !== null && { key: { id: key._id, name: key.name } }) };
}
