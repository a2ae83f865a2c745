import type { DescMethodServerStreaming, DescMethodUnary, JsonObject, Message } from "@bufbuild/protobuf";
import { ContentResultSchema, type Progress } from "#proto/mcp/v1/tool_pb.js";
import { internal } from "../rpc/errors.js";
import { compileContent } from "./codec/content.js";
import { compileDecode, type Decode } from "./codec/decode.js";
import { compileEncode } from "./codec/encode.js";
import { showHidden } from "./codec/hidden-characters.js";
import { compileCut } from "./cut.js";
import type { Tool } from "./tools.js";

/** How far a tool has come. */
export interface ProgressNote {
  readonly done: number;
  readonly total?: number | undefined;
  readonly message: string;
}

/** The way to the rpcs of tools. `C` is what goes with a call. */
export interface ToolDispatch<C> {
  unary(method: DescMethodUnary, request: Message, call: C): Promise<Message>;
  stream(method: DescMethodServerStreaming, request: Message, call: C): AsyncIterable<Message>;
}

/** A tool, from its arguments to its result as text. Deadlines, credentials and tenants are the caller's matter. */
export interface CallableTool {
  readonly tool: Tool;
  /** The result is content blocks, and no JSON object. */
  readonly isContent: boolean;
  /** @throws ConnectError invalid_argument. */
  decode(args: JsonObject): Message;
  /**
   * Calls the rpc of the tool; of a stream the result is its last message.
   *
   * @throws ConnectError as the rpc does, or internal if a stream ends without a result.
   */
  call<C>(
    dispatch: ToolDispatch<C>,
    request: Message,
    call: C,
    onProgress?: (note: ProgressNote) => void,
  ): Promise<Message>;
  /** The result as the text of a JSON object, cut if it is longer than MAX_RESULT; of content its member `content` alone. */
  textOf(result: Message): string;
}

/** Longest structured result, in characters of JSON; a longer one is cut. */
export const MAX_RESULT = 40 * 1024;

/**
 * Makes a tool callable. Most tools are not called: the codec of each is compiled at its first call.
 *
 * @param showsHidden characters that hide in texts are written out in results, and read back in arguments.
 */
export function createCallableTool(tool: Tool, showsHidden: boolean): CallableTool {
  const { method } = tool;
  const isContent = tool.result.typeName === ContentResultSchema.typeName;
  let decode: Decode | undefined;
  let encode: ((result: Message) => string) | undefined;
  return {
    tool,
    isContent,
    decode(args) {
      decode ??= compileDecode(method.input, showsHidden);
      return decode(args);
    },
    call(dispatch, request, call, onProgress) {
      if (method.methodKind === "unary") return dispatch.unary(method, request, call);
      return lastOf(dispatch.stream(method, request, call) as AsyncIterable<StreamedEvent>, onProgress);
    },
    textOf(result) {
      encode ??= isContent ? compileContent() : compileText(tool, showsHidden);
      return encode(result);
    },
  };
}

function compileText(tool: Tool, showsHidden: boolean): (result: Message) => string {
  const encode = compileEncode(tool.result, showsHidden);
  const cut = compileCut(tool.result, encode, MAX_RESULT, tool.method.input.field.pageSize !== undefined);
  return (result) => {
    const whole = encode(result);
    return whole.length > MAX_RESULT ? cut(result, whole) : whole;
  };
}

/** See mcp.v1.Progress for the shape of a stream. */
type StreamedEvent = Message & {
  readonly event:
    | { readonly case: "progress"; readonly value: Progress }
    | { readonly case: "result"; readonly value: Message }
    | { readonly case: undefined };
};

async function lastOf(
  events: AsyncIterable<StreamedEvent>,
  onProgress: ((note: ProgressNote) => void) | undefined,
): Promise<Message> {
  for await (const { event } of events) {
    if (event.case === "result") return event.value;
    if (event.case === "progress") {
      const { done, total, message } = event.value;
      onProgress?.({ done, total, message: showHidden(message) });
    }
  }
  throw internal("the stream ended without a result");
}
