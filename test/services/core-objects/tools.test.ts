import { expect, test } from "vitest";
import { readImage } from "../../../services/shared/tools/image.js";
import { readTools } from "../../../services/shared/tools/tools.js";

const tools = readTools(readImage()).filter(({ server }) => server === "core");

test("the tools of core are published with the hints and needs that they have", () => {
  const said = tools.map((tool) => [
    tool.name,
    tool.scope,
    tool.needs.join(),
    Object.entries(tool.listing.annotations)
      .flatMap(([hint, holds]) => (holds ? [hint.replace("Hint", "")] : []))
      .join(" "),
  ]);
  expect(said).toEqual([
    ["list_agents", "core:read", "", "readOnly idempotent"],
    ["get_agent", "core:read", "", "readOnly idempotent"],
    ["create_agent", "core:write", "", ""],
    ["update_agent", "core:write", "", "idempotent"],
    ["delete_agent", "core:write", "", "destructive"],
    ["list_assignments", "core:read", "", "readOnly idempotent"],
    ["get_assignment", "core:read", "", "readOnly idempotent"],
    ["create_assignment", "core:write", "", ""],
    ["update_assignment", "core:write", "", "idempotent"],
    ["delete_assignment", "core:write", "", "destructive"],
    ["trigger_assignment", "core:write", "", "openWorld"],
    ["list_custom_tools", "core:read", "", "readOnly idempotent"],
    ["get_custom_tool", "core:read", "", "readOnly idempotent"],
    ["create_custom_tool", "core:write", "", ""],
    ["update_custom_tool", "core:write", "", "idempotent"],
    ["delete_custom_tool", "core:write", "", "destructive"],
    ["list_documents", "core:read", "", "readOnly idempotent"],
    ["read_document", "core:read", "", "readOnly idempotent"],
    ["create_document", "core:write", "", ""],
    ["update_document", "core:write", "", "idempotent"],
    ["delete_document", "core:write", "", "destructive"],
    ["list_integrations", "core:read", "", "readOnly idempotent"],
    ["get_integration", "core:read", "", "readOnly idempotent"],
    ["create_integration", "core:write", "", ""],
    ["update_integration", "core:write", "", "idempotent"],
    ["test_integration", "core:write", "", "idempotent openWorld"],
    ["delete_integration", "core:write", "", "destructive"],
    ["list_knowledge_bases", "core:read", "", "readOnly idempotent"],
    ["get_knowledge_base", "core:read", "", "readOnly idempotent"],
    ["create_knowledge_base", "core:write", "", ""],
    ["update_knowledge_base", "core:write", "", "idempotent"],
    ["delete_knowledge_base", "core:write", "", "destructive"],
    ["search_knowledge", "core:read", "knowledge_base", "readOnly idempotent"],
    ["list_mcp_servers", "core:read", "", "readOnly idempotent"],
    ["get_mcp_server", "core:read", "", "readOnly idempotent"],
    ["create_mcp_server", "core:write", "", ""],
    ["update_mcp_server", "core:write", "", "idempotent"],
    ["test_mcp_server", "core:write", "", "idempotent openWorld"],
    ["delete_mcp_server", "core:write", "", "destructive"],
    ["list_prompts", "core:read", "", "readOnly idempotent"],
    ["get_prompt", "core:read", "", "readOnly idempotent"],
    ["render_prompt", "core:read", "", "readOnly idempotent"],
    ["create_prompt", "core:write", "", ""],
    ["update_prompt", "core:write", "", "idempotent"],
    ["delete_prompt", "core:write", "", "destructive"],
    ["list_available_resources", "core:read", "", "readOnly idempotent"],
    ["list_runs", "core:read", "", "readOnly idempotent"],
    ["get_run", "core:read", "", "readOnly idempotent"],
    ["trigger_run", "core:write", "", "openWorld"],
    ["update_run", "core:write", "", ""],
    ["list_run_steps", "core:read", "", "readOnly idempotent"],
    ["list_skills", "core:read", "", "readOnly idempotent"],
    ["load_skill", "core:read", "skill", "readOnly idempotent"],
    ["read_skill_resource", "core:read", "skill", "readOnly idempotent"],
    ["create_skill", "core:write", "", ""],
    ["update_skill", "core:write", "", "idempotent"],
    ["delete_skill", "core:write", "", "destructive"],
    ["get_usage", "core:read", "", "readOnly idempotent"],
    ["list_variables", "core:read", "", "readOnly idempotent"],
    ["get_variable", "core:read", "", "readOnly idempotent"],
    ["create_variable", "core:write", "", ""],
    ["update_variable", "core:write", "", "idempotent"],
    ["delete_variable", "core:write", "", "destructive"],
    ["inspect_agent_traces", "core:read", "", "readOnly idempotent"],
    ["get_trace_payload", "core:read", "", "readOnly idempotent"],
  ]);
});

test("their schemas are plain, refuse what they do not know and say what every argument is", () => {
  for (const { name, listing } of tools) {
    expect(JSON.stringify(listing.inputSchema)).not.toMatch(/"\$ref"|"anyOf"|"oneOf"|"allOf"/);
    expect(listing.inputSchema.additionalProperties).toBe(false);
    expect(listing.description.length).toBeGreaterThan(60);
    for (const [argument, schema] of Object.entries(listing.inputSchema.properties ?? {})) {
      expect([name, argument, schema.description ?? ""]).not.toContain("");
    }
  }
});

/** Tools that take more of a list: an agent has the most that can be set. */
const LARGE: Readonly<Record<string, number>> = { create_agent: 3_600, update_agent: 4_300, update_assignment: 3_300 };

test("none of them takes more than 3 KB of a list", () => {
  const bytes = tools.map(({ name, listing: { outputSchema: _, ...listing } }) => ({
    name,
    size: Buffer.byteLength(JSON.stringify(listing)),
  }));
  expect(bytes.filter(({ name, size }) => size > (LARGE[name] ?? 3 * 1024))).toEqual([]);
});
