import { AgentAccessService } from "#proto/core/v1/agent_access_service_pb.js";
import { AgentSchema, AgentService } from "#proto/core/v1/agent_service_pb.js";
import { unary } from "../../../shared/rpc/method.js";
import { defineKind } from "../../objects/define-kind.js";
import { given } from "../../objects/given.js";
import { listAfter } from "../../objects/list-after.js";
import { getAgentTiers, listManageableAgents } from "./access.js";
import { readAgent } from "./builtin.js";
import type { AgentRecord } from "./record.js";

const { listAgents, getAgent, createAgent, updateAgent, deleteAgent } = AgentService.method;
const access = AgentAccessService.method;

/** Agents: instructions with a model, tools, skills and knowledge bases. */
export const kind = defineKind({
  noun: "agent",
  plural: "agents",
  message: AgentSchema,
  references: { skills: "skill" },
  limits: { tools: 500, skills: 100, knowledge_bases: 100 },
  view: (record: AgentRecord, refer) => ({
    instructions: record.instructions,
    model: record.model,
    tools: [...record.tools],
    skills: record.skills.map(refer.skills),
    knowledgeBases: record.knowledge_bases.map((id) => ({ id })),
  }),
  list: {
    rpc: listAgents,
    without: ["instructions"],
    hidden: ["tools", "skills", "knowledgeBases", "sharing", "etag", "createdAt"],
    description: 200,
  },
  get: { rpc: getAgent },
  create: {
    rpc: createAgent,
    content: ({ instructions, model, tools, skillIds, knowledgeBaseIds }) => ({
      instructions,
      model,
      tools: listAfter([], tools),
      skills: listAfter([], skillIds),
      knowledge_bases: listAfter([], knowledgeBaseIds),
    }),
  },
  update: {
    rpc: updateAgent,
    changes: (request, current) => ({
      ...given({ name: request.name, instructions: request.instructions, model: request.model }),
      tools: listAfter(current.tools, request.addTools, request.removeTools),
      skills: listAfter(current.skills, request.addSkillIds, request.removeSkillIds),
      knowledge_bases: listAfter(current.knowledge_bases, request.addKnowledgeBaseIds, request.removeKnowledgeBaseIds),
    }),
  },
  delete: { rpc: deleteAgent },
  commands: (context) => [
    unary(access.listManageableAgents, (request, call) => listManageableAgents(context, request, call)),
    unary(access.getAgentTiers, (request, call) => getAgentTiers(context, request, call)),
  ],
  capabilities: [{ name: "agent:manage", action: "delete", administrators: true }],
  migrations: [{ filter: { tags: { $exists: true } }, update: { $rename: { tags: "labels" } } }],
  readBuiltin: readAgent,
});
