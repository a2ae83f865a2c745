import { AgentAccessService } from "#proto/core/v1/agent_access_service_pb.js";
import { AgentSchema, AgentService, type DeleteAgentRequest } from "#proto/core/v1/agent_service_pb.js";
import { unary } from "../../../shared/rpc/method.js";
import { defineKind } from "../../objects/define-kind.js";
import { given } from "../../objects/given.js";
import { listAfter } from "../../objects/list-after.js";
import { getAgentTiers, listManageableAgents } from "./access.js";
import { readAgent } from "./builtin.js";
import { modelFieldsAfter, modelFieldsIn, parametersOf } from "./model-fields.js";
import type { AgentRecord } from "./record.js";
import { DETACHING, REFERENCES, resourcesAfter } from "./resources.js";
import { templateOf } from "./template.js";
import { withAssignments } from "./with-assignments.js";

const { listAgents, getAgent, createAgent, updateAgent, deleteAgent } = AgentService.method;
const access = AgentAccessService.method;

/** Agents: instructions with a model, tools, and what they may use of the other kinds. */
export const kind = defineKind({
  noun: "agent",
  plural: "agents",
  message: AgentSchema,
  references: { ...REFERENCES, fallback_integration: "integration" },
  detaching: { ...DETACHING, fallback_integration: "empty fallback_integration_id with update_agent" },
  hasParts: true,
  limits: {
    tools: 500,
    skills: 100,
    knowledge_bases: 100,
    prompts: 100,
    variables: 100,
    custom_tools: 100,
    mcp_servers: 20,
  },
  view: (record: AgentRecord, refer) => ({
    instructions: record.instructions,
    model: record.model,
    tools: [...record.tools],
    skills: record.skills.map(refer.skills),
    knowledgeBases: record.knowledge_bases.map(refer.knowledge_bases),
    prompts: record.prompts.map(refer.prompts),
    variables: record.variables.map(refer.variables),
    customTools: record.custom_tools.map(refer.custom_tools),
    mcpServers: record.mcp_servers.map(refer.mcp_servers),
    integration: record.integrations.map(refer.integrations)[0],
    parameters: parametersOf(record),
    fallbackModel: record.fallback_model || undefined,
    fallbackIntegration: record.fallback_integration
      ? refer.fallback_integration(record.fallback_integration)
      : undefined,
  }),
  list: {
    rpc: listAgents,
    without: ["instructions"],
    hidden: [
      ...(["tools", "skills", "knowledgeBases", "prompts", "variables", "customTools", "mcpServers"] as const),
      ...(["integration", "parameters", "fallbackModel", "fallbackIntegration"] as const),
      ...(["sharing", "etag", "createdAt"] as const),
    ],
    description: 200,
  },
  get: { rpc: getAgent },
  create: {
    rpc: createAgent,
    async content({ templateId, instructions, model, tools, resourceIds, ...more }, writer) {
      const template = await templateOf(templateId, writer);
      const resources = await resourcesAfter(template, resourceIds, [], writer);
      return {
        instructions: instructions === "" ? template.instructions : instructions,
        model: model === "" ? template.model : model,
        tools: listAfter(template.tools, writer.knownTools(tools)),
        ...resources,
        ...modelFieldsAfter(template, more),
      };
    },
  },
  update: {
    rpc: updateAgent,
    async changes(request, current, writer) {
      const { addResourceIds: add, removeResourceIds: remove } = request;
      const resources = await resourcesAfter(current, add, remove, writer);
      return {
        ...given({ name: request.name, instructions: request.instructions, model: request.model }),
        tools: listAfter(current.tools, writer.knownTools(request.addTools, current.tools), request.removeTools),
        ...resources,
        ...modelFieldsIn(request),
      };
    },
  },
  delete: {
    rpc: deleteAgent,
    along: ({ deleteAssignments }: DeleteAgentRequest) => (deleteAssignments ? ["assignment"] : []),
    after: withAssignments,
  },
  commands: (context) => [
    unary(access.listManageableAgents, (request, call) => listManageableAgents(context, request, call)),
    unary(access.getAgentTiers, (request, call) => getAgentTiers(context, request, call)),
  ],
  readBuiltin: readAgent,
});
