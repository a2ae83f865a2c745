import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  GetAgentTiersRequestSchema,
  GetAgentTiersResponseSchema,
  ListManageableAgentsRequestSchema,
  ListManageableAgentsResponseSchema,
} from "#proto/core/v1/agent_access_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import type { Context } from "../../context.js";
import { filterOf, tierOf } from "../../policy.js";

const MOST = 1000;

/** Names the agents that the caller can manage. */
export async function listManageableAgents(
  context: Context,
  _request: MessageShape<typeof ListManageableAgentsRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof ListManageableAgentsResponseSchema>> {
  const found = await context
    .collection("agent")
    .find(filterOf(caller, "delete"), { sort: { _id: -1 }, limit: MOST + 1, projection: { _id: 1 } })
    .toArray();
  return { agentIds: found.slice(0, MOST).map(({ _id }) => _id), truncated: found.length > MOST };
}

/** Says what the caller may do to each of some agents. */
export async function getAgentTiers(
  context: Context,
  { agentIds }: MessageShape<typeof GetAgentTiersRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof GetAgentTiersResponseSchema>> {
  if (agentIds.length === 0) return {};
  const filter = { _id: { $in: agentIds }, ...filterOf(caller, "read") };
  const found = await context
    .collection("agent")
    .find(filter, { projection: { instructions: 0 } })
    .toArray();
  return { tiers: Object.fromEntries(found.map((agent) => [agent._id, tierOf(caller, agent)])) };
}
