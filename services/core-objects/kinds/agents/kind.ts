import { AgentAccessService } from "#proto/core/v1/agent_access_service_pb.js";
import { AgentSchema, AgentService, type DeleteAgentRequest } from "#proto/core/v1/agent_service_pb.js";
import { unary } from "../../../shared/rpc/method.js";
import { checkHeld } from "../../objects/check-held.js";
import { defineKind } from "../../objects/define-kind.js";
import { given } from "../../objects/given.js";
import { listAfter } from "../../objects/list-after.js";
import { getAgentTiers, listManageableAgents } from "./access.js";
import { readAgent } from "./builtin.js";
import { knownMarks, marksAfter } from "./marks.js";
import { modelFieldsAfter, modelFieldsIn, parametersOf } from "./model-fields.js";
import type { AgentRecord } from "./record.js";
import { attachedTo, DETACHING, REFERENCES, resourcesAfter } from "./resources.js";
import { showAgent } from "./show.js";
import { templateOf } from "./template.js";
import { contentOf, firstVersion, numberOf, restored, versionAfter } from "./versions.js";
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
    ask_tools: 500,
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
    askTools: [...(record.ask_tools ?? [])],
    version: record.origin === "builtin" ? undefined : numberOf(record),
    parameters: parametersOf(record),
    fallbackModel: record.fallback_model || undefined,
    fallbackIntegration: record.fallback_integration
      ? refer.fallback_integration(record.fallback_integration)
      : undefined,
  }),
  list: {
    rpc: listAgents,
    without: ["instructions", "history"],
    hidden: [
      ...(["tools", "skills", "knowledgeBases", "prompts", "variables", "customTools", "mcpServers"] as const),
      ...(["integration", "parameters", "fallbackModel", "fallbackIntegration", "askTools", "version"] as const),
      ...(["sharing", "etag", "createdAt"] as const),
    ],
    description: 200,
  },
  get: { rpc: getAgent, show: showAgent },
  create: {
    rpc: createAgent,
    async content({ templateId, instructions, model, tools, askTools, resourceIds, ...more }, writer) {
      const template = await templateOf(templateId, writer);
      const resources = await resourcesAfter(template, resourceIds, [], writer);
      return {
        instructions: instructions === "" ? template.instructions : instructions,
        model: model === "" ? template.model : model,
        tools: listAfter(template.tools, writer.knownTools(tools)),
        ...firstVersion(writer),
        ask_tools: listAfter(template.ask_tools ?? [], knownMarks(askTools, writer)),
        ...resources,
        ...(await modelFieldsAfter(template, more, writer)),
      };
    },
  },
  update: {
    rpc: updateAgent,
    async changes(request, current, writer) {
      const { addResourceIds: add, removeResourceIds: remove, addTools, removeTools } = request;
      const base = await restored(current, request.restoreVersion, remove, writer);
      checkHeld("agent", "tool", removeTools, base.tools);
      if (remove.length > 0) checkHeld("agent", "resource", remove, attachedTo(base), "get_agent shows their names");
      const texts = { instructions: request.instructions, model: request.model };
      const content = {
        ...contentOf(base),
        ...given(texts),
        tools: listAfter(
          writer.knownTools(
            base.tools.filter((tool) => !removeTools.includes(tool)),
            current.tools,
          ),
          writer.knownTools(addTools, current.tools),
          removeTools,
        ),
        ask_tools: marksAfter(base, request, writer),
        ...(await resourcesAfter(base, add, remove, writer)),
        ...(await modelFieldsIn(request, writer)),
      };
      return { ...given({ name: request.name }), ...content, ...versionAfter(current, content, writer) };
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
