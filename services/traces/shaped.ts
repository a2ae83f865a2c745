import { fromBinary } from "@bufbuild/protobuf";
import { ResourceSchema } from "#proto/opentelemetry/proto/resource/v1/resource_pb.js";
import { SpanSchema } from "#proto/opentelemetry/proto/trace/v1/trace_pb.js";
import { orderOf } from "./head.js";
import { EVENT, type ReadSpan, readSpan } from "./span.js";

/**
 * Reads a span that was taken in, from its bytes and those of its resource.
 *
 * @param nth which event of its export it is; 0 for a span.
 */
export function shapedOf(raw: Uint8Array, resource: Uint8Array | undefined, nth: number): ReadSpan {
  const span = fromBinary(SpanSchema, raw);
  const read = readSpan(span, resource === undefined ? undefined : fromBinary(ResourceSchema, resource));
  if (typeof read === "string") throw new Error(`a span that was taken in is refused: ${read}`);
  if (nth === 0) return read;
  // The span itself has its tokens, and is the one that a trace may begin with.
  const { startTimeUnixNano: at } = span;
  const order = orderOf(at, at, read.facts.parent_span_id === "", nth, read.facts.span_id);
  const own = { operation: EVENT, tool: "", input_tokens: 0, output_tokens: 0, order };
  return { ...read, outermost: "no", facts: { ...read.facts, ...own } };
}
