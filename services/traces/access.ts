import { AgentAccessService } from "#proto/core/v1/agent_access_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import type { Call } from "../shared/rpc/call.js";
import { notFound, permissionDenied } from "../shared/rpc/errors.js";
import type { Peers } from "../shared/rpc/peers.js";
import type { Filter } from "../shared/store/store.js";
import type { TraceRecord } from "./store.js";

// Who reads which traces: administrators all; others what their own credential
// sent, and traces whose every agent they can manage.

/**
 * The traces that the caller may read, as a filter.
 *
 * @param target only those of this agent; "" for all.
 * @throws ConnectError not_found or permission_denied for an agent that the
 * caller, who is no administrator, cannot manage.
 */
export async function readableBy(peers: Peers, call: Call, target = ""): Promise<Filter<TraceRecord>> {
  const { caller } = call;
  const ofTarget = target === "" ? {} : { agents: target };
  if (caller.admin) return ofTarget;
  if (target !== "") await checkManaged(peers, call, target);
  const { agentIds } = await peers.call(AgentAccessService.method.listManageableAgents, {}, call);
  return {
    viewers: { $in: [`u:${caller.id}`, ...agentIds.map((id) => `a:${id}`)] },
    $or: [{ user: caller.id }, { agents: { $not: { $elemMatch: { $nin: agentIds } } } }],
    ...ofTarget,
  } as Filter<TraceRecord>;
}

/**
 * Those of the agents named in spans that their sender may use: only these
 * take the spans as their own. Services of ours are believed.
 */
export async function usableAgents(
  peers: Peers,
  call: Call,
  agentIds: readonly string[],
): Promise<ReadonlySet<string>> {
  if (agentIds.length === 0 || call.caller.scopes.has("internal")) return new Set(agentIds);
  const usable = new Set<string>();
  for (let from = 0; from < agentIds.length; from += PER_CALL) {
    const some = agentIds.slice(from, from + PER_CALL);
    const { tiers } = await peers.call(AgentAccessService.method.getAgentTiers, { agentIds: some }, call);
    for (const id of Object.keys(tiers)) usable.add(id);
  }
  return usable;
}

const PER_CALL = 100;

async function checkManaged(peers: Peers, call: Call, agentId: string): Promise<void> {
  const { tiers } = await peers.call(AgentAccessService.method.getAgentTiers, { agentIds: [agentId] }, call);
  const tier = Object.hasOwn(tiers, agentId) ? tiers[agentId] : undefined;
  if (tier === undefined) throw notFound(`no agent that you can see has the id ${agentId}`);
  if (tier !== Tier.MANAGE) {
    throw permissionDenied(
      "only those who can manage this agent read its traces; its owner can give you the manage tier",
    );
  }
}
