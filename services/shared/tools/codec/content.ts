import type { Message } from "@bufbuild/protobuf";
import { base64Encode } from "@bufbuild/protobuf/wire";
import type { Content, ContentResult } from "#proto/mcp/v1/tool_pb.js";

/** Writes a result that is content blocks: the blocks as they are, without structured content. */
export function compileContent(): (result: Message) => string {
  return (result) => `"content":${JSON.stringify((result as ContentResult).content.map(blockOf))}`;
}

function blockOf({ block }: Content): object {
  switch (block.case) {
    case "image":
    case "audio":
      return { type: block.case, data: base64Encode(block.value.data), mimeType: block.value.mimeType };
    case "resource": {
      const { uri, mimeType, text } = block.value;
      return { type: "resource", resource: { uri, mimeType, text } };
    }
    default:
      return { type: "text", text: block.value ?? "" };
  }
}
