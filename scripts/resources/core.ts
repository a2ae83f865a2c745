import type { Resource } from "./resource.js";

const whole = (name: string, noun: string, besides?: readonly string[]): Resource => ({
  name,
  list: [`list_${noun}s`],
  read: [`get_${noun}`],
  create: [`create_${noun}`],
  update: [`update_${noun}`],
  delete: [`delete_${noun}`],
  ...(besides === undefined ? {} : { besides }),
});

/** The resources of the agent platform. */
export const core: readonly Resource[] = [
  whole("agent", "agent", ["list_available_resources"]),
  whole("prompt", "prompt", ["render_prompt"]),
  {
    name: "skill",
    list: ["list_skills"],
    read: ["load_skill", "read_skill_resource"],
    create: ["create_skill"],
    update: ["update_skill"],
    delete: ["delete_skill"],
  },
  whole("variable", "variable"),
  whole("custom tool", "custom_tool"),
  whole("integration", "integration"),
  whole("MCP server", "mcp_server"),
  whole("knowledge base", "knowledge_base", ["search_knowledge"]),
  {
    name: "document",
    list: ["list_documents"],
    read: ["read_document"],
    create: ["add_document"],
    update: ["revise_document"],
    delete: ["delete_document"],
  },
  {
    name: "trace",
    list: ["inspect_agent_traces"],
    read: ["get_trace_payload"],
    create: "sent by agents over OTLP",
    update: "a trace stays what it was",
    delete: "goes when its retention ends",
  },
];
