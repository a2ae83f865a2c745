import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromMs } from "@bufbuild/protobuf/wkt";
import type {
  ExchangeDelegationRequest,
  ExchangeDelegationResponseSchema,
} from "#proto/auth/v1/delegation_service_pb.js";
import { invalidArgument, unauthenticated } from "../../shared/rpc/errors.js";
import { SERVICE_NAMES } from "../../shared/rpc/service.js";
import { ASSERTION_TTL_S } from "../assertion-mint.js";
import { callerNow } from "../authenticator.js";
import type { Context } from "../context.js";
import { delegationId } from "../delegations.js";
import { identityOf } from "../identity.js";

/** Mints an assertion of who had the work begun, as the records stand now. */
export async function exchangeDelegation(
  { store, assertions, verification }: Context,
  request: ExchangeDelegationRequest,
): Promise<MessageInitShape<typeof ExchangeDelegationResponseSchema>> {
  const audience = SERVICE_NAMES.find((name) => name === request.audience);
  if (audience === undefined) throw invalidArgument(`audience must be one of ${SERVICE_NAMES.join(", ")}`);
  const found = await store.delegations.findOne({ _id: delegationId(request.delegation) });
  if (found === null || (found.expires_at !== null && found.expires_at.getTime() <= Date.now()))
    throw unauthenticated(
      "the permission to act for this user has ended: trigger the run again, or enable the schedule again",
    );
  const key = found.schedule_key ? await store.keys.findOne({ _id: found.schedule_key }) : null;
  if (key !== null && key.revoked_at !== null)
    throw unauthenticated(
      `the API key ${key.name} (${key._id}), which set this schedule, was revoked: enable the schedule again with another key`,
    );
  const { caller, seq } = await callerNow(found.user_id, found.key_id, new Set(found.scopes), verification);
  const expiresAt = Math.floor(Date.now() / 1_000) + ASSERTION_TTL_S;
  const acting = request.run === "" ? caller : { ...caller, run: request.run };
  const assertion = await assertions.mint(acting, audience, seq, expiresAt);
  return {
    assertion,
    expiresAt: timestampFromMs(expiresAt * 1_000),
    caller: identityOf(caller),
    ...(key !== null && { key: { id: key._id, name: key.name } }),
  };
}
