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

const MOST = 10;

/** Names agents that the caller can manage: the newest, by their names. */
export async function listManageableAgents(
  context: Context,
  _request: MessageShape<typeof ListManageableAgentsRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof ListManageableAgentsResponseSchema>> {
  const found = await context
    .collection("agent")
    .find(filterOf(caller, "delete"), { sort: { _id: -1 }, limit: MOST + 1, projection: { name: 1 }, hint: "access" })
    .toArray();
  const agents = found.slice(0, MOST).map(({ _id, name }) => ({ id: _id, name }));
  return { agents: agents.sort((a, b) => a.name.localeCompare(b.name)), more: found.length > MOST };
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
    .find(filter, { projection: { origin: 1, owner: 1, acl: 1 }, limit: agentIds.length })
    .toArray();
  return { tiers: Object.fromEntries(found.map((agent) => [agent._id, tierOf(caller, agent)])) };
}
