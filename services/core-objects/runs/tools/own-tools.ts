import type { DescMethodUnary, JsonObject, Message } from "@bufbuild/protobuf";
import { EndpointService } from "#proto/catalogue/v1/endpoint_service_pb.js";
import { ContentResultSchema } from "#proto/mcp/v1/tool_pb.js";
import { isPlatformServer } from "../../../shared/platforms.js";
import type { Call } from "../../../shared/rpc/call.js";
import { internal } from "../../../shared/rpc/errors.js";
import type { Peers } from "../../../shared/rpc/peers.js";
import { compileContent } from "../../../shared/tools/codec/content.js";
import { compileDecode } from "../../../shared/tools/codec/decode.js";
import { compileEncode } from "../../../shared/tools/codec/encode.js";
import { compileCut } from "../../../shared/tools/cut.js";
import { type ExplainCall, prepareExplainCall } from "../../../shared/tools/explain-call.js";
import type { Tool } from "../../../shared/tools/tools.js";
import type { AgentTool } from "./agent-tool.js";

/** Longest result, in characters of JSON, as MCP clients are given it. */
const MAX_RESULT = 40 * 1024;

/** Tools by which a run would begin others, or have them begun: an agent is given none of them. */
const TRIGGERS: ReadonlySet<string> = new Set(["run", "assignment"]);

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
  const servers = new Set(tools.map(({ server }) => server));
  const explains = new Map(
    [...servers].map((server) => [server, prepareExplainCall(tools.filter((tool) => tool.server === server))]),
  );
  const callable = (tool: Tool): AgentTool => {
    const found = made.get(tool) ?? toolOf(tool, peers, explains.get(tool.server)!);
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
    return !listing.annotations.destructiveHint && inParts.some((parts) => matches(parts, full));
  };
}

/** Part after part, so that no pattern takes longer than its length times the name's. */
function matches(parts: readonly string[], name: string): boolean {
  const [first, last] = [parts[0] as string, parts.at(-1) as string];
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (let n = 1; n < parts.length - 1; n++) {
    const part = parts[n] as string;
    const found = name.indexOf(part, at);
    if (found === -1) return false;
    at = found + part.length;
  }
  return name.length - at >= last.length && name.endsWith(last);
}

function toolOf(tool: Tool, peers: Peers, explainCall: ExplainCall): AgentTool {
  const { server, name, readOnly, listing, method } = tool;
  const isPlatform = isPlatformServer(server);
  // Most tools that an agent has are not called: each is compiled at its first call.
  let decode: ReturnType<typeof compileDecode> | undefined;
  let encode: ReturnType<typeof encodeOf> | undefined;
  return {
    name: `${server}__${name}`,
    label: `${server}/${name}`,
    description: listing.description,
    parameters: listing.inputSchema as Readonly<Record<string, unknown>>,
    readOnly,
    async call(args: JsonObject, call: Call) {
      decode ??= compileDecode(method.input, isPlatform);
      encode ??= encodeOf(tool, isPlatform);
      const request = decode(args);
      if (method.methodKind === "unary") return encode(await peers.call(method as DescMethodUnary, request, call));
      for await (const event of peers.stream(method, request, call)) {
        const { event: happened } = event as unknown as StreamedEvent;
        if (happened.case === "result") return encode(happened.value);
      }
      throw internal("the stream ended without a result");
    },
    explain: (error, args, has) =>
      explainCall(error, { tool, args }, { has: (one) => has(`${server}/${one}`), toolsetLeftOut: () => undefined }),
  };
}

/** See mcp.v1.Progress for the shape of a stream. */
interface StreamedEvent {
  readonly event: { readonly case: string | undefined; readonly value: Message };
}

function encodeOf(tool: Tool, isPlatform: boolean): (result: Message) => string {
  if (tool.result.typeName === ContentResultSchema.typeName) {
    const encode = compileContent();
    return (result) => `{${encode(result)}}`;
  }
  const encode = compileEncode(tool.result, isPlatform);
  const cut = compileCut(tool.result, encode, MAX_RESULT, tool.method.input.field.pageSize !== undefined);
  return (result) => {
    const whole = encode(result);
    return whole.length > MAX_RESULT ? cut(result, whole) : whole;
  };
}
