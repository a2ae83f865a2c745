import type { JsonObject, Message } from "@bufbuild/protobuf";
import { ContentResultSchema } from "#proto/mcp/v1/tool_pb.js";
import { serviceOf } from "../../services/shared/rpc/service.js";
import { compileContent } from "../../services/shared/tools/codec/content.js";
import { compileDecode, type Decode } from "../../services/shared/tools/codec/decode.js";
import { compileEncode } from "../../services/shared/tools/codec/encode.js";
import { showHidden } from "../../services/shared/tools/codec/hidden-characters.js";
import { compileCut } from "../../services/shared/tools/cut.js";
import { TENANT_MEMBER } from "../../services/shared/tools/tenant.js";
import type { Tool } from "../../services/shared/tools/tools.js";

/** A tool with everything that a request needs of it prepared. */
export interface ServedTool {
  readonly tool: Tool;
  /** The name of the service that answers it: the audience of its assertion. */
  readonly service: string;
  /** @throws ConnectError invalid_argument. */
  decode(args: JsonObject): Message;
  /**
   * The members of the tool's result: content, and structuredContent where it has one.
   *
   * @param tenant the tenant of the result, which its JSON then names.
   */
  encode(result: Message, tenant?: NamedTenant): string;
}

/** A tenant as results name it. */
export interface NamedTenant {
  readonly id: string;
  /** "" if it is not known. */
  readonly name: string;
}

/** Longest structured result, in characters of JSON; a longer one is cut. */
export const MAX_RESULT = 40 * 1024;

/**
 * Characters that hide in texts are written out, and read back, on every server: documents, names and payloads of our
 * own objects are other people's texts too. Places in a text, such as start_byte, stay those of the original.
 */
const SHOWS_HIDDEN = true;

/** Prepares a tool; its codec is compiled at the first call. */
export function serveTool(tool: Tool): ServedTool {
  let decode: Decode | undefined;
  let encode: ServedTool["encode"] | undefined;
  return {
    tool,
    service: serviceOf(tool.method) ?? "",
    decode(args) {
      decode ??= compileDecode(tool.method.input, SHOWS_HIDDEN);
      return decode(args);
    },
    encode(result, tenant) {
      encode ??= compileResult(tool);
      return encode(result, tenant);
    },
  };
}

function compileResult(tool: Tool): ServedTool["encode"] {
  if (tool.result.typeName === ContentResultSchema.typeName) return compileContent();
  const encode = compileEncode(tool.result, SHOWS_HIDDEN);
  const cut = compileCut(tool.result, encode, MAX_RESULT, tool.method.input.field.pageSize !== undefined);
  return (result, tenant) => {
    const whole = encode(result);
    const own = whole.length > MAX_RESULT ? cut(result, whole) : whole;
    const text = tenant === undefined ? own : withTenant(own, tenant);
    return `"content":[{"type":"text","text":${JSON.stringify(text)}}],"structuredContent":${text}`;
  };
}

/** A JSON object with the tenant as its first member. */
function withTenant(text: string, { id, name }: NamedTenant): string {
  const said = JSON.stringify({ id, ...(name !== "" && { name: showHidden(name) }) });
  return `{"${TENANT_MEMBER}":${said}${text === "{}" ? "" : ","}${text.slice(1)}`;
}
