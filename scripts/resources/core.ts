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
  {
    ...whole("assignment", "assignment", ["trigger_assignment"]),
    delete: "disabled by update_assignment, so that its runs can say what they were of",
  },
  {
    name: "run",
    list: ["list_runs"],
    read: ["get_run", "list_run_steps"],
    create: ["trigger_run", "trigger_assignment"],
    update: ["update_run"],
    delete: "goes 90 days after it was triggered",
  },
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
  whole("integration", "integration", ["test_integration"]),
  whole("MCP server", "mcp_server", ["test_mcp_server"]),
  whole("knowledge base", "knowledge_base", ["search_knowledge"]),
  {
    name: "document",
    list: ["list_documents"],
    read: ["read_document"],
    create: ["create_document"],
    update: ["update_document"],
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
  {
    name: "usage",
    list: "there is one for each owner",
    read: ["get_usage"],
    create: "counted as objects, documents, runs and spans are written",
    update: "counted as they change",
    delete: "given back as they are deleted",
  },
];
