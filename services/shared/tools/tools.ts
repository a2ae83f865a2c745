import {
  type DescMessage,
  type DescMethod,
  type DescMethodServerStreaming,
  type DescMethodUnary,
  type FileRegistry,
  getOption,
  hasOption,
} from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel as Idempotency } from "@bufbuild/protobuf/wkt";
import { scope } from "#proto/auth/v1/access_pb.js";
import { ContentResultSchema, header, ProgressSchema, server, tool } from "#proto/mcp/v1/tool_pb.js";
import { needs } from "#proto/platform/v1/needs_pb.js";
import { commentOf } from "./comments.js";
import { type JsonSchema, schemaOf } from "./schema.js";
import { TENANT_ARGUMENT, TENANT_MEMBER } from "./tenant.js";

/** An rpc that the API publishes as an MCP tool. */
export interface Tool {
  readonly name: string;
  /** The MCP server that publishes it: the last segment of the endpoint's path. */
  readonly server: string;
  /** The proto service it belongs to, in snake_case without "service". */
  readonly toolset: string;
  /** Every toolset that it is in, as ?toolsets= names them: its own and, if the API says so, BASIC. */
  readonly toolsets: readonly string[];
  readonly scope: string;
  /** Capabilities the caller must hold on the platform. */
  readonly needs: readonly string[];
  readonly readOnly: boolean;
  /** Capabilities the MCP client must have declared. */
  readonly clientCapabilities: readonly string[];
  readonly method: DescMethodUnary | DescMethodServerStreaming;
  /** The message that is the tool's result: a stream's `result`, else the response. */
  readonly result: DescMessage;
  /** The arguments that a header repeats for gateways to route by. */
  readonly headers: readonly HeaderArgument[];
  /** What tools/list says of it, ready to send. */
  readonly listing: {
    readonly name: string;
    readonly title: string;
    readonly description: string;
    readonly inputSchema: JsonSchema;
    /** Absent where the result is content blocks. */
    readonly outputSchema?: JsonSchema;
    readonly annotations: Readonly<Record<string, boolean>>;
    /** Absent if the tool asks nothing of clients. */
    readonly _meta?: Readonly<Record<string, unknown>>;
  };
}

/** The toolset of each server for daily questions. */
export const BASIC = "basic";

/** What clients read that search for tools: true on a tool that they keep in the context (Claude Code). */
const ALWAYS_LOAD = "anthropic/alwaysLoad";

/** An argument that the header Mcp-Param-`header` repeats (MCP 2026-07-28, x-mcp-header). */
export interface HeaderArgument {
  readonly header: string;
  /** The names that lead to the argument, outermost first. */
  readonly path: readonly string[];
}

const read = new WeakMap<FileRegistry, readonly Tool[]>();

/**
 * Reads every tool of an image, in the order of the .proto files, which does not change between runs.
 * The services of one process and its façade share what is read once.
 */
export function readTools(image: FileRegistry): readonly Tool[] {
  const tools = read.get(image) ?? toolsOf(image);
  read.set(image, tools);
  return tools;
}

function toolsOf(image: FileRegistry): Tool[] {
  const tools: Tool[] = [];
  for (const desc of image) {
    if (desc.kind !== "service") continue;
    for (const method of desc.methods) {
      if (hasOption(method, tool)) tools.push(toolOf(method));
    }
  }
  return tools;
}

function toolOf(method: DescMethod): Tool {
  const option = getOption(method, tool);
  const words = wordsOf(method.name);
  const name = option.name || words.join("_");
  const result = resultOf(method);
  const readOnly = method.idempotency === Idempotency.NO_SIDE_EFFECTS;
  const toolset = wordsOf(method.parent.name.replace(/Service$/, "")).join("_");
  let listing: Tool["listing"] | undefined;
  return {
    name,
    server: getOption(method.parent, server),
    toolset,
    toolsets: option.basic ? [toolset, BASIC] : [toolset],
    scope: getOption(method, scope),
    needs: getOption(method, needs),
    readOnly,
    clientCapabilities: option.clientCapabilities,
    method: method as Tool["method"],
    result,
    headers: headersOf(method.input, []),
    // Made when a list is: at a start nobody has asked for one, and a schema costs more than all the rest.
    get listing() {
      listing ??= listingOf(method, name, result);
      return listing;
    },
  };
}

/** What tools/list says of an rpc. */
function listingOf(method: DescMethod, name: string, result: DescMessage): Tool["listing"] {
  const option = getOption(method, tool);
  const words = wordsOf(method.name);
  const readOnly = method.idempotency === Idempotency.NO_SIDE_EFFECTS;
  return {
    name,
    title: option.title || `${words[0]!.charAt(0).toUpperCase()}${words.join(" ").slice(1)}`,
    description: commentOf(method),
    inputSchema:
      option.inputSchema === "" ? schemaOf(method.input, "in") : (JSON.parse(option.inputSchema) as JsonSchema),
    ...(result.typeName !== ContentResultSchema.typeName && { outputSchema: outputSchemaOf(method, result) }),
    annotations: {
      readOnlyHint: readOnly,
      destructiveHint: option.destructive,
      idempotentHint: readOnly || method.idempotency === Idempotency.IDEMPOTENT,
      openWorldHint: option.openWorld,
    },
    ...(option.alwaysLoad && { _meta: { [ALWAYS_LOAD]: true } }),
  };
}

function wordsOf(name: string): string[] {
  return name.split(/(?<=[a-z0-9])(?=[A-Z])/).map((word) => word.toLowerCase());
}

/** The message that is a tool's result; see mcp.v1.Progress for the shape of a stream. */
function resultOf(method: DescMethod): DescMessage {
  if (method.methodKind === "unary") return method.output;
  const { progress, result } = method.output.field;
  if (
    method.methodKind === "server_streaming" &&
    progress?.message?.typeName === ProgressSchema.typeName &&
    result?.message
  ) {
    return result.message;
  }
  throw new Error(`${method.parent.typeName}.${method.name}: a tool is unary, or streams progress and then a result`);
}

/** Results that hold a list may be cut, and those of a tenant may name it: the members that say so are part of the schema. */
function outputSchemaOf({ input }: DescMethod, result: DescMessage): JsonSchema {
  const schema = schemaOf(result, "out");
  const isOfTenant = input.fields.some(({ name }) => name === TENANT_ARGUMENT);
  const holdsList = result.fields.some((field) => field.fieldKind === "list");
  if (!isOfTenant && !holdsList) return schema;
  const said: Record<string, JsonSchema> = {
    ...(isOfTenant && { [TENANT_MEMBER]: TENANT_SCHEMA }),
    ...(holdsList && CUT_SCHEMAS),
  };
  return { ...schema, properties: { ...said, ...schema.properties } };
}

const TENANT_SCHEMA: JsonSchema = {
  type: "object",
  description: "The tenant of this result, if you have several.",
  properties: { id: { type: "string" }, name: { type: "string" } },
  required: ["id"],
};
const CUT_SCHEMAS: Record<string, JsonSchema> = {
  truncated: { type: "boolean", description: "True if a list was cut because the result is too large." },
  truncated_hint: { type: "string", description: "The list that was cut, and how to get the rest." },
};

function headersOf(message: DescMessage, path: readonly string[]): HeaderArgument[] {
  if (path.length > MAX_HEADER_DEPTH) return [];
  return message.fields.flatMap((field) => {
    const own = [...path, field.name];
    if (hasOption(field, header)) return [{ header: getOption(field, header), path: own }];
    return field.fieldKind === "message" ? headersOf(field.message, own) : [];
  });
}

/** Bounds the walk into messages that contain themselves. */
const MAX_HEADER_DEPTH = 5;
