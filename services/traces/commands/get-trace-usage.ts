import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  GetTraceUsageRequestSchema,
  GetTraceUsageResponseSchema,
} from "#proto/traces/v1/trace_usage_service_pb.js";
import type { Context } from "../context.js";
import { EVERYONE, usageOf } from "../quota.js";

/** Shows what the spans of a user add up to, or those of everyone. */
export async function getTraceUsage(
  { store, quota }: Context,
  { userId }: MessageShape<typeof GetTraceUsageRequestSchema>,
): Promise<MessageInitShape<typeof GetTraceUsageResponseSchema>> {
  const { spans, bytes } = await usageOf(store, userId === "" ? EVERYONE : userId);
  if (userId === "") return { spans, bytes, maxBytes: quota.deploymentBytes };
  return { spans, bytes, maxSpans: quota.spans, maxBytes: quota.bytes };
}
