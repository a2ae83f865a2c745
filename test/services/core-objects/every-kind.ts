import type { DescService } from "@bufbuild/protobuf";
import { AgentService } from "#proto/core/v1/agent_service_pb.js";
import { AssignmentService } from "#proto/core/v1/assignment_service_pb.js";
import { CustomToolService } from "#proto/core/v1/custom_tool_service_pb.js";
import { IntegrationService } from "#proto/core/v1/integration_service_pb.js";
import { KnowledgeBaseService } from "#proto/core/v1/knowledge_base_service_pb.js";
import { McpServerService } from "#proto/core/v1/mcp_server_service_pb.js";
import { PromptService } from "#proto/core/v1/prompt_service_pb.js";
import { SkillService } from "#proto/core/v1/skill_service_pb.js";
import { VariableService } from "#proto/core/v1/variable_service_pb.js";

interface Read {
  readonly tool: string;
  readonly args: (id: string) => object;
  /** Starts a process for the object, which takes about a second. */
  readonly isSlow?: true;
}

/** A kind of object, for tests that ask the same of all, in the words of its tools. */
export interface KindUnderTest {
  readonly noun: string;
  /** As its tools name one and several. */
  readonly snake: string;
  readonly plural: string;
  readonly service: DescService;
  /** What a new one needs besides a name. */
  readonly needs: Readonly<Record<string, unknown>>;
  /** A name that the kind takes, from a word of small letters and digits. */
  readonly nameOf: (word: string) => string;
  /** The tools that read one, each with arguments that fit one that is built in and one made with `needs`. */
  readonly reads: readonly Read[];
  /** The id of one that ships with the product. */
  readonly builtin?: string;
  /** The arguments that hold something secret: when one is made, and when it is changed. */
  readonly secret?: Readonly<Record<"given" | "changed", (value: string) => object>>;
}

type More = Partial<Omit<KindUnderTest, "noun" | "service" | "needs">>;

function kind(noun: string, service: DescService, needs: KindUnderTest["needs"], more: More = {}): KindUnderTest {
  const snake = noun.toLowerCase().replaceAll(" ", "_");
  const reads = [{ tool: `get_${snake}`, args: (id: string) => ({ [`${snake}_id`]: id }) }];
  return { noun, snake, plural: `${snake}s`, service, needs, reads, nameOf: (word) => word, ...more };
}

const SKILL_FILE = "references/markings.md";

/** Every kind there is. */
export const EVERY_KIND: readonly KindUnderTest[] = [
  kind("agent", AgentService, {}, { builtin: "builtin.threat-analyst" }),
  kind("assignment", AssignmentService, { agent_id: "builtin.threat-analyst", input: "Look." }),
  kind(
    "custom tool",
    CustomToolService,
    { method: "get", url: "https://inventory.example.com/", headers: [{ name: "X-Source", value: "us" }] },
    { nameOf: (word) => `tool_${word}` },
  ),
  kind(
    "integration",
    IntegrationService,
    { type: "openai", endpoint: "http://127.0.0.1:4/v1", models: ["large"] },
    {
      reads: [
        { tool: "get_integration", args: (id) => ({ integration_id: id }) },
        { tool: "test_integration", args: (id) => ({ integration_id: id }), isSlow: true },
      ],
      secret: { given: (credential) => ({ credential }), changed: (credential) => ({ credential }) },
    },
  ),
  kind(
    "knowledge base",
    KnowledgeBaseService,
    {},
    {
      reads: [
        { tool: "get_knowledge_base", args: (id) => ({ knowledge_base_id: id }) },
        { tool: "search_knowledge", args: (id) => ({ query: "phishing", knowledge_base_ids: [id] }) },
      ],
    },
  ),
  kind(
    "MCP server",
    McpServerService,
    { url: "http://127.0.0.1:4/mcp" },
    {
      reads: [
        { tool: "get_mcp_server", args: (id) => ({ mcp_server_id: id }) },
        { tool: "test_mcp_server", args: (id) => ({ mcp_server_id: id }), isSlow: true },
      ],
      secret: {
        given: (value) => ({ headers: [{ name: "Authorization", value }] }),
        changed: (value) => ({ put_headers: [{ name: "Authorization", value }] }),
      },
    },
  ),
  kind(
    "prompt",
    PromptService,
    { template: "Look at {{since}} {{notes}}.", arguments: [{ name: "since" }, { name: "notes" }] },
    {
      builtin: "builtin.hand-over-a-shift",
      reads: [
        { tool: "get_prompt", args: (id) => ({ prompt_id: id }) },
        { tool: "render_prompt", args: (id) => ({ prompt: id, arguments: { since: "06:00" } }) },
      ],
    },
  ),
  kind(
    "skill",
    SkillService,
    { instructions: "Look at this.", files: [{ path: SKILL_FILE, text: "text" }] },
    {
      builtin: "builtin.investigate-an-indicator",
      reads: [
        { tool: "load_skill", args: (skill) => ({ skill }) },
        { tool: "read_skill_resource", args: (skill) => ({ skill, path: SKILL_FILE }) },
      ],
    },
  ),
  kind(
    "variable",
    VariableService,
    { value: "a value to keep" },
    {
      secret: {
        given: (value) => ({ value, secret: true }),
        changed: (value) => ({ value }),
      },
    },
  ),
];
