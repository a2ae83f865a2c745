import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { WatchRequestSchema, WatchResponseSchema } from "#proto/auth/v1/watch_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import type { Context } from "../context.js";

/** Tells a watcher of events, under a lease, until it or the call ends. */
export function watch(
  { hub }: Context,
  requests: AsyncIterable<MessageShape<typeof WatchRequestSchema>>,
  { signal }: Call,
): AsyncIterable<MessageInitShape<typeof WatchResponseSchema>> {
  return hub.watch(requests, signal);
}
