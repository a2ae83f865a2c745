import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { UpdateAgentRequestSchema, UpdateAgentResponseSchema } from "#proto/core/v1/agent_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { invalidArgument } from "../../shared/rpc/errors.js";
import { agentOf, checkSkills } from "../agent.js";
import { listAfter } from "../lists.js";
import type { Objects } from "../objects.js";
import type { Principals } from "../principals.js";
import { sharingAfter, sharingIn } from "../sharing.js";
import { checkChanges } from "../something-to-change.js";
import type { AgentRecord, Collections } from "../store.js";

/** Changes what is given of an agent; sharing needs more than the rest does. */
export async function updateAgent(
  agents: Objects<AgentRecord>,
  principals: Principals,
  { skills }: Collections,
  request: MessageShape<typeof UpdateAgentRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof UpdateAgentResponseSchema>> {
  checkChanges(request);
  const shares = request.share.length > 0 || request.unshare.length > 0;
  const sharing = await sharingIn(request, principals);
  const record = await agents.update(caller, request.id, request.etag, shares ? "share" : "modify", async (current) => {
    const added = request.addSkills.filter((id) => !current.skills.includes(id));
    await checkSkills(skills, caller, added);
    return {
      ...(request.name !== undefined && { name: request.name }),
      ...(request.description !== undefined && { description: request.description }),
      ...(request.instructions !== undefined && { instructions: request.instructions }),
      ...(request.model !== undefined && { model: request.model }),
      ...(request.enabled !== undefined && { enabled: request.enabled }),
      tags: bounded(listAfter(current.tags, request.addTags, request.removeTags), 50, "tags"),
      tools: bounded(listAfter(current.tools, request.addTools, request.removeTools), 500, "tools"),
      skills: bounded(listAfter(current.skills, added, request.removeSkills), 100, "skills"),
      knowledge_bases: bounded(
        listAfter(current.knowledge_bases, request.addKnowledgeBases, request.removeKnowledgeBases),
        100,
        "knowledge bases",
      ),
      ...sharingAfter(current, sharing),
    };
  });
  return { agent: agentOf(caller, record) };
}

function bounded(list: string[], most: number, what: string): string[] {
  if (list.length > most) throw invalidArgument(`an agent has at most ${most} ${what}; remove some in the same call`);
  return list;
}
