import type { EndDelegationRequest } from "#proto/auth/v1/delegation_service_pb.js";
import type { Context } from "../context.js";
import { delegationId } from "../delegations.js";

/** Forgets a delegation. */
export async function endDelegation(
  { store }: Context,
  { delegation }: EndDelegationRequest,
): Promise<Record<string, never>> {
  await store.delegations.deleteOne({ _id: delegationId(delegation) });
  return {};
}
