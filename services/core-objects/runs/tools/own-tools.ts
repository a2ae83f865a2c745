import type { JsonObject } from "@bufbuild/protobuf";
import { EndpointService } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { isPlatformServer } from "../../../shared/platforms.js";
import type { Call } from "../../../shared/rpc/call.js";
import type { Peers } from "../../../shared/rpc/peers.js";
import { createCallableTool, type ToolDispatch } from "../../../shared/tools/callable-tool.js";
import { type ExplainCall, prepareExplainCall } from "../../../shared/tools/explain-call.js";
import type { Tool } from "../../../shared/tools/tools.js";
import { matchesParts } from "../../objects/tool-names.js";
import type { AgentTool } from "./agent-tool.js";

/** Tools by which a run would begin others, or have them begun: an agent is given none of them. */
const TRIGGERS: ReadonlySet<string> = new Set(["run", "assignment"]);

/** Tools of core that return what others wrote: documents, and answers that other runs and agents read. */
const OTHERS_TEXTS: ReadonlySet<string> = new Set(["document", "knowledge_base", "run", "trace_inspection"]);

/** The tools of our own servers, called through the same gates as from outside. */
export interface OwnTools {
  /** Those of the patterns, such as cti/search_entities and grc/list_*, that the caller may see. */
  matching(patterns: readonly string[], call: Call): Promise<AgentTool[]>;
  /** Those with these names, such as cti/search_entities, as `matching` found them before. */
  named(names: readonly string[]): AgentTool[];
  /** One of core by its name, whatever the agent names; undefined where there is none. */
  ofCore(name: string): AgentTool | undefined;
  /** The servers that patterns name. */
  serversOf(patterns: readonly string[]): string[];
}

/** Makes the tools of an image callable by runs. */
export function createOwnTools(tools: readonly Tool[], peers: Peers): OwnTools {
  const made = new Map<Tool, AgentTool>();
  const dispatch: ToolDispatch<Call> = {
    unary: (method, request, call) => peers.call(method, request, call),
    stream: (method, request, call) => peers.stream(method, request, call),
  };
  const servers = new Set(tools.map(({ server }) => server));
  const explains = new Map(
    [...servers].map((server) => [server, prepareExplainCall(tools.filter((tool) => tool.server === server))]),
  );
  const callable = (tool: Tool): AgentTool => {
    const found = made.get(tool) ?? toolOf(tool, dispatch, explains.get(tool.server)!);
    made.set(tool, found);
    return found;
  };
  const serversOf = (patterns: readonly string[]): string[] => {
    const named = new Set(patterns.map((pattern) => pattern.split("/", 1)[0] as string));
    return [...named].filter((server) => servers.has(server));
  };

  return {
    serversOf,
    ofCore(name) {
      const tool = tools.find((one) => one.server === "core" && one.name === name);
      return tool && callable(tool);
    },
    named(names) {
      const wanted = new Set(names);
      return tools.filter(({ server, name }) => wanted.has(`${server}/${name}`)).map(callable);
    },
    async matching(patterns, call) {
      const isNamed = namedBy(patterns);
      const found = await Promise.all(
        serversOf(patterns).map(async (server) => {
          const visible = await peers.call(EndpointService.method.listVisibleTools, { server }, call);
          const names = new Set([...visible.tools, ...visible.unlisted]);
          return tools.filter((tool) => tool.server === server && names.has(tool.name) && isNamed(tool));
        }),
      );
      return found.flat().map(callable);
    },
  };
}

/** Whether patterns name a tool: destructive ones in full; what begins runs is no agent's, however it is named. */
function namedBy(patterns: readonly string[]): (tool: Tool) => boolean {
  const named = new Set(patterns);
  const inParts = [...named].filter((pattern) => pattern.includes("*")).map((pattern) => pattern.split("*"));
  return ({ server, name, toolset, readOnly, listing }) => {
    if (server === "core" && TRIGGERS.has(toolset) && !readOnly) return false;
    const full = `${server}/${name}`;
    if (named.has(full)) return true;
    return !listing.annotations.destructiveHint && inParts.some((parts) => matchesParts(parts, full));
  };
}

function toolOf(tool: Tool, dispatch: ToolDispatch<Call>, explainCall: ExplainCall): AgentTool {
  const { server, name, toolset, readOnly, listing } = tool;
  const callable = createCallableTool(tool, isPlatformServer(server));
  return {
    name: `${server}__${name}`,
    label: `${server}/${name}`,
    known: `${server}/${name}`,
    target: `${server}/${name}`,
    readsOutside: isPlatformServer(server) || OTHERS_TEXTS.has(toolset),
    writesOutside: !readOnly && (isPlatformServer(server) || listing.annotations.openWorldHint === true),
    description: listing.description,
    parameters: listing.inputSchema as Readonly<Record<string, unknown>>,
    readOnly,
    async call(args: JsonObject, call: Call) {
      const text = callable.textOf(await callable.call(dispatch, callable.decode(args), call));
      return callable.isContent ? `{${text}}` : text;
    },
    explain: (error, args, has) =>
      explainCall(error, { tool, args }, { has: (one) => has(`${server}/${one}`), toolsetLeftOut: () => undefined }),
  };
}
