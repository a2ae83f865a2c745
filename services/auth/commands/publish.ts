import type { MessageInitShape } from "@bufbuild/protobuf";
import type { PublishRequest, PublishResponseSchema } from "#proto/auth/v1/watch_service_pb.js";
import type { Context } from "../context.js";

/** Publishes an event and answers when every watcher knows of it. */
export async function publish(
  { hub }: Context,
  { kind, id }: PublishRequest,
): Promise<MessageInitShape<typeof PublishResponseSchema>> {
  const { seq, acknowledged, expired } = await hub.publish([{ kind, id }]);
  return { seq: BigInt(seq), acknowledged, expired };
}
