import { Code, ConnectError } from "@connectrpc/connect";
import {
  EndpointAvailability as Availability,
  type EndpointAvailability,
  EndpointService,
} from "#proto/catalogue/v1/endpoint_service_pb.js";
import type { Peers } from "../../shared/rpc/peers.js";
import type { Context } from "../context.js";
import type { Acting } from "../delegations.js";
import type { AgentRecord } from "../kinds/agents/record.js";
import { filterOf } from "../policy.js";
import { delegationPlace } from "./begin-run.js";
import { RunEnd } from "./ending.js";
import type { RunRecord } from "./record.js";

/** As whom a run acts, and the agent, as both are now. */
export interface Standing extends Acting {
  readonly agent: AgentRecord;
}

/**
 * Asks again, before each step, whether a run may go on: the key and the user as
 * whom it acts, the switches, and the agent.
 *
 * @param serversOf the servers that the agent's tools are of.
 * @throws RunEnd that says why not; ConnectError where nobody can say.
 */
export async function standingOf(
  context: Context,
  peers: Peers,
  run: RunRecord,
  serversOf: (patterns: readonly string[]) => readonly string[],
): Promise<Standing> {
  const acting = await actingFor(context, run);
  const { endpoints } = await peers.callAsService(EndpointService.method.getEndpointStates, {});
  const closed = new Map(endpoints.map(({ server, availability }) => [server, WORDS[availability]]));
  const core = closed.get("core");
  if (core !== undefined) throw new RunEnd("switched_off", core);
  const found = await context
    .collection<AgentRecord>("agent")
    .findOne({ _id: run.agent, ...filterOf(acting.caller, "read") });
  if (found === null) throw new RunEnd("agent_unavailable", "the agent was deleted, or is no longer shared with you");
  if (!found.enabled) throw new RunEnd("agent_unavailable", "the agent is disabled: enable it with update_agent");
  for (const server of serversOf(found.tools)) {
    const why = closed.get(server);
    if (why !== undefined) throw new RunEnd("switched_off", `the agent has tools of ${server}: ${why}`);
  }
  return { ...acting, agent: found };
}

async function actingFor({ seal, delegations }: Context, { _id, delegation }: RunRecord): Promise<Acting> {
  try {
    return await delegations.exchange(seal.open(delegation, delegationPlace(_id)), _id);
  } catch (error) {
    const failed = ConnectError.from(error);
    if (failed.code !== Code.Unauthenticated) throw error;
    throw new RunEnd("credential", `it can no longer act as its user: ${failed.rawMessage}`);
  }
}

const OFF = "an administrator switched";
const WORDS: Readonly<Partial<Record<EndpointAvailability, string>>> = {
  [Availability.PLATFORM_SERVERS_OFF]: `${OFF} platform servers off`,
  [Availability.NOT_REGISTERED]: "no platform of this type is registered",
  [Availability.CORE_OFF]: `${OFF} core off`,
  [Availability.AI_OFF]: `${OFF} AI off`,
};
