import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { CreateAgentRequestSchema, CreateAgentResponseSchema } from "#proto/core/v1/agent_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { agentOf, checkSkills } from "../agent.js";
import { listAfter } from "../lists.js";
import type { Objects } from "../objects.js";
import type { Principals } from "../principals.js";
import { aclOf } from "../sharing.js";
import type { AgentRecord, Collections } from "../store.js";

/** Creates an agent of the caller's own, or a company-managed one. */
export async function createAgent(
  agents: Objects<AgentRecord>,
  principals: Principals,
  { skills }: Collections,
  request: MessageShape<typeof CreateAgentRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof CreateAgentResponseSchema>> {
  await checkSkills(skills, caller, request.skills);
  const acl = aclOf(await principals.of(request.sharing));
  const record = await agents.create(
    caller,
    {
      name: request.name,
      description: request.description,
      instructions: request.instructions,
      model: request.model,
      tags: listAfter([], request.tags, []),
      tools: listAfter([], request.tools, []),
      skills: listAfter([], request.skills, []),
      knowledge_bases: listAfter([], request.knowledgeBases, []),
      enabled: request.enabled ?? true,
    },
    { companyManaged: request.companyManaged, acl, requestId: request.requestId },
  );
  return { agent: agentOf(caller, record) };
}
