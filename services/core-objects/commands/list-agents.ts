import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ListAgentsRequestSchema, ListAgentsResponseSchema } from "#proto/core/v1/agent_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { agentOf } from "../agent.js";
import type { Objects } from "../objects.js";
import { originOf } from "../sharing.js";
import type { AgentRecord } from "../store.js";

const PAGE_SIZE = 25;

/** Lists the agents that the caller can read. */
export async function listAgents(
  agents: Objects<AgentRecord>,
  { search, tags, origin, pageSize, pageToken }: MessageShape<typeof ListAgentsRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof ListAgentsResponseSchema>> {
  const page = await agents.list(caller, {
    search,
    tags,
    origin: originOf(origin),
    pageSize: pageSize ?? PAGE_SIZE,
    pageToken,
    without: ["instructions"],
  });
  return {
    agents: page.items.map((record) => agentOf(caller, record)),
    nextPageToken: page.nextPageToken,
    totalSize: page.totalSize,
  };
}
