import { AgentAccessService } from "#proto/core/v1/agent_access_service_pb.js";
import { Tier } from "#proto/core/v1/sharing_pb.js";
import type { Call } from "../shared/rpc/call.js";
import { notFound, permissionDenied } from "../shared/rpc/errors.js";
import type { Peers } from "../shared/rpc/peers.js";
import { quoted } from "../shared/rpc/quoted.js";
import { shorten } from "../shared/tools/shorten.js";
import type { TraceRecord } from "./store.js";

// Who reads which traces. Administrators read all. Others read a trace that
// their own credential sent or that a run of theirs left, and one whose every
// agent they can manage; they list those of an agent that they manage.

/** What the caller may read; it asks about each agent once. */
export interface Reader {
  /**
   * Refuses a listing that is not for the caller.
   *
   * @param target the agent whose traces are listed; "" for all.
   * @throws ConnectError permission_denied, which names agents to ask for,
   * where the caller is no administrator and names none; not_found or
   * permission_denied for an agent that such a caller cannot manage.
   */
  checkListing(target: string): Promise<void>;
  /** Says of traces, each, whether the caller may read it. */
  mayRead(traces: readonly TraceRecord[]): Promise<readonly boolean[]>;
}

/** What the caller of a call may read. */
export function readerOf(peers: Peers, call: Call): Reader {
  const { admin, id } = call.caller;
  const known = new Map<string, Tier | undefined>();

  async function learn(agents: readonly string[]): Promise<void> {
    const unknown = [...new Set(agents)].filter((agent) => !known.has(agent));
    const tiers = await tiersOf(peers, call, unknown);
    for (const agent of unknown) known.set(agent, tiers.get(agent));
  }

  return {
    async checkListing(target) {
      if (admin) return;
      if (target === "") throw permissionDenied(await refusalOf(peers, call));
      await learn([target]);
      const tier = known.get(target);
      if (tier === undefined)
        throw notFound(`no agent that you can see has the id ${quoted(target)}; list_agents returns the ids`);
      if (tier !== Tier.MANAGE) {
        throw permissionDenied(
          "only users who can manage this agent can list its traces: ask its owner for the manage tier. " +
            "To read the traces of your own runs, set mine",
        );
      }
    },
    async mayRead(traces) {
      if (admin) return traces.map(() => true);
      await learn(traces.filter(({ user }) => user !== id).flatMap(({ agents = [] }) => agents));
      return traces.map(({ user, agents = [] }) => {
        if (user === id) return true;
        return agents.length > 0 && agents.every((agent) => known.get(agent) === Tier.MANAGE);
      });
    },
  };
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
  if (call.caller.scopes.has("internal")) return new Set(agentIds);
  return new Set((await tiersOf(peers, call, agentIds)).keys());
}

const PER_CALL = 100;

/** What the caller may do to agents; those that the caller cannot see are left out. */
async function tiersOf(peers: Peers, call: Call, agentIds: readonly string[]): Promise<ReadonlyMap<string, Tier>> {
  const found = new Map<string, Tier>();
  for (let from = 0; from < agentIds.length; from += PER_CALL) {
    const some = agentIds.slice(from, from + PER_CALL);
    const { tiers } = await peers.call(AgentAccessService.method.getAgentTiers, { agentIds: some }, call);
    for (const [id, tier] of Object.entries(tiers)) found.set(id, tier);
  }
  return found;
}

const NAME_CHARACTERS = 60;

/** Names agents that the caller could ask for. */
async function refusalOf(peers: Peers, call: Call): Promise<string> {
  const { agents, more } = await peers.call(AgentAccessService.method.listManageableAgents, {}, call);
  const why = "only administrators can list the traces of all agents";
  const own = "to list the traces that you sent and those of your runs, set mine";
  if (agents.length === 0) return `${why}, and you manage no agent; ${own}`;
  const named = agents.map(({ id, name }) => `${id} (${JSON.stringify(shorten(name, NAME_CHARACTERS))})`).join(", ");
  const others = more ? "; list_agents shows the others, those with your_access manage" : "";
  return `${why}; give target_agent_id. You manage ${named}${others}; ${own}`;
}
