import { type DescMessage, getOption, hasOption } from "@bufbuild/protobuf";
import { not_searched } from "#proto/mcp/v1/tool_pb.js";

/** An answer with what the words of its request were not looked for in, which the words' option says; on first pages only. */
export function withNotSearched(input: DescMessage, request: unknown, result: unknown): unknown {
  const said = sentenceOf(input, request as Readonly<Record<string, unknown>>);
  return said === undefined ? result : { ...(result as object), notSearched: said };
}

function sentenceOf(input: DescMessage, request: Readonly<Record<string, unknown>>): string | undefined {
  if (typeof request.pageToken === "string" && request.pageToken !== "") return undefined;
  const words = input.fields.find((field) => hasOption(field, not_searched));
  if (words === undefined || (request[words.localName] ?? "") === "") return undefined;
  return getOption(words, not_searched);
}
