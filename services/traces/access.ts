import { AgentAccessService } from "#proto/core/v1/agent_access_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import type { Call } from "../shared/rpc/call.js";
import { notFound, permissionDenied } from "../shared/rpc/errors.js";
import type { Peers } from "../shared/rpc/peers.js";
import type { Filter } from "../shared/store/store.js";
import type { TraceRecord } from "./store.js";

// Who reads which traces: administrators all; others what their own credential
// sent, and traces whose every agent they can manage.

/** The traces that somebody may read, as an index gives them and as it does not. */
export interface Readable {
  /** Equalities that the index of that name begins with. */
  readonly seen: Filter<TraceRecord>;
  readonly index: "order" | "viewers" | "agents";
  /** What else is demanded of a trace. */
  readonly wanted: Filter<TraceRecord>;
}

/** What is demanded of a trace in all. */
export function allOf({ seen, wanted }: Readable): Filter<TraceRecord> {
  return { ...seen, ...wanted } as Filter<TraceRecord>;
}

/**
 * The traces that the caller may read.
 *
 * @param target only those of this agent; "" for all.
 * @throws ConnectError not_found or permission_denied for an agent that the
 * caller, who is no administrator, cannot manage.
 */
export async function readableBy(peers: Peers, call: Call, target = ""): Promise<Readable> {
  const { caller } = call;
  const ofTarget = { seen: { agents: target }, index: "agents" } as const;
  if (caller.admin) return { ...(target === "" ? { seen: {}, index: "order" } : ofTarget), wanted: {} };
  if (target !== "") await checkManaged(peers, call, target);
  const { agentIds: some } = await peers.call(AgentAccessService.method.listManageableAgents, {}, call);
  // Of those who manage very many agents only some are named; this one is known to be among theirs.
  const agentIds = target === "" ? some : [...new Set([...some, target])];
  const own = `u:${caller.id}`;
  // A trace is in the view of one user, its sender: without agents there is nothing else to ask.
  if (agentIds.length === 0) return { seen: { viewers: own }, index: "viewers", wanted: {} };
  const byViewers = {
    seen: { viewers: { $in: [own, ...agentIds.map((id) => `a:${id}`)] } },
    index: "viewers",
  } as const;
  return {
    ...(target === "" ? byViewers : ofTarget),
    wanted: { $or: [{ user: caller.id }, { agents: { $not: { $elemMatch: { $nin: agentIds } } } }] },
  } as Readable;
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
