import { AgentAccessService } from "#proto/core/v1/agent_access_service_pb.js";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { CapabilityService } from "#proto/core/v1/capability_service_pb.js";
import { SkillService } from "#proto/core/v1/skill_service_pb.js";
import { type Method, unary } from "../shared/rpc/method.js";
import { agentOf } from "./agent.js";
import { getAgentTiers, listManageableAgents } from "./commands/agent-access.js";
import { createAgent } from "./commands/create-agent.js";
import { getCapabilities } from "./commands/get-capabilities.js";
import { listAgents } from "./commands/list-agents.js";
import { listSkills } from "./commands/list-skills.js";
import { loadSkill, readSkillResource } from "./commands/load-skill.js";
import { updateAgent } from "./commands/update-agent.js";
import { createSkill, deleteSkill, updateSkill } from "./commands/write-skill.js";
import { createObjects } from "./objects.js";
import type { Principals } from "./principals.js";
import type { Collections } from "./store.js";

/** Every rpc of this service and what answers it. */
export function routesOf(collections: Collections, principals: Principals): Method[] {
  const agents = createObjects(collections.agents, "agent");
  const skills = createObjects(collections.skills, "skill");
  const agent = AgentService.method;
  const skill = SkillService.method;
  const access = AgentAccessService.method;
  return [
    unary(agent.listAgents, (request, call) => listAgents(agents, request, call)),
    unary(agent.getAgent, async ({ id }, { caller }) => ({ agent: agentOf(caller, await agents.get(caller, id)) })),
    unary(agent.createAgent, (request, call) => createAgent(agents, principals, collections, request, call)),
    unary(agent.updateAgent, (request, call) => updateAgent(agents, principals, collections, request, call)),
    unary(agent.deleteAgent, async ({ id, etag }, { caller }) => {
      await agents.remove(caller, id, etag);
      return { id };
    }),
    unary(skill.listSkills, (request, call) => listSkills(skills, request, call)),
    unary(skill.loadSkill, (request, call) => loadSkill(collections, request, call)),
    unary(skill.readSkillResource, (request, call) => readSkillResource(collections, request, call)),
    unary(skill.createSkill, (request, call) => createSkill(skills, principals, request, call)),
    unary(skill.updateSkill, (request, call) => updateSkill(skills, principals, request, call)),
    unary(skill.deleteSkill, (request, call) => deleteSkill(skills, collections, request, call)),
    unary(access.listManageableAgents, (_request, call) => listManageableAgents(collections, call)),
    unary(access.getAgentTiers, (request, call) => getAgentTiers(collections, request, call)),
    unary(CapabilityService.method.getCapabilities, (_request, call) => getCapabilities(collections, call)),
  ];
}
