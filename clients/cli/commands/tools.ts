import { SERVERS } from "../../../services/shared/platforms.js";
import { type Role, rightsOf } from "../../../services/shared/roles/role.js";
import type { Argument, Verb } from "../command.js";
import { Failure, UsageError } from "../failures.js";
import { mcp } from "../mcp.js";
import { ALL, narrowedFor, toolsOf } from "../narrowed-url.js";
import { roleInWords } from "../role-in-words.js";

const SERVER: Argument = { name: "SERVER", doc: "The server.", choices: SERVERS };

interface ToolsPage {
  readonly tools: readonly { readonly name: string; readonly description?: string }[];
  readonly nextCursor?: string;
}

interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text?: string }[];
  readonly structuredContent?: object;
  readonly isError?: boolean;
}

/** Calls tools, as an MCP client does. */
export const tools: readonly Verb[] = [
  {
    verb: "list",
    doc: "List the tools you may use on a server.",
    args: [SERVER],
    async run(session, { args }) {
      const found: object[] = [];
      let cursor: string | undefined;
      do {
        const asked = cursor === undefined ? {} : { cursor };
        const page = await mcp<ToolsPage>(session, args.SERVER as string, "tools/list", asked);
        found.push(...page.tools.map(({ name, description }) => ({ name, description })));
        cursor = page.nextCursor;
      } while (cursor !== undefined);
      return { tools: found };
    },
  },
  {
    verb: "call",
    doc: "Call a tool with its arguments as JSON.",
    args: [
      SERVER,
      { name: "TOOL", doc: "The tool's name." },
      { name: "JSON", doc: "The tool's arguments, such as '{}'." },
    ],
    async run(session, { args }) {
      const asked = { name: args.TOOL, arguments: objectOf(args.JSON as string) };
      const { content, structuredContent, isError } = await mcp<ToolResult>(
        session,
        args.SERVER as string,
        "tools/call",
        asked,
      );
      if (isError) throw new Failure(content.map((block) => block.text ?? `(${block.type})`).join("\n"));
      return structuredContent ?? content;
    },
  },
  {
    verb: "rights",
    doc: "Show the role to create on a platform for tools, and the scopes of the key. This does not call the service.",
    args: [SERVER],
    flags: {
      toolsets: { doc: `Toolsets, separated by commas; "${ALL}", or all if omitted.` },
      exclude: { doc: "Toolsets and tools to leave out, separated by commas." },
      readonly: { doc: "Only tools that change nothing.", isSwitch: true },
    },
    async run(_, { args: { SERVER: server = "" }, flags: { toolsets, exclude, readonly } }) {
      const asked = { toolsets: toolsets ?? ALL, exclude, readonly: readonly !== undefined };
      const { query, narrowing } = narrowedFor({ sends: "all" }, [server], asked);
      return { ...rightsOf(server, toolsOf(server), narrowing), query };
    },
    shows: (answer) => roleInWords(answer as Role & { readonly query: string }),
  },
];

function objectOf(json: string): object {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw new UsageError(`the arguments are not JSON: ${(error as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new UsageError("the arguments must be a JSON object, such as '{}'");
  }
  return value;
}
