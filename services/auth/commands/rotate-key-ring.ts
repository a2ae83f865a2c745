import type { MessageInitShape } from "@bufbuild/protobuf";
import type { RotateKeyRingRequest, RotateKeyRingResponseSchema } from "#proto/auth/v1/key_ring_service_pb.js";
import type { Context } from "../context.js";
import { ringOf, signingKeyOf } from "../signing-keys.js";

/** Publishes a key that signs after the lead. Verifiers fetch the keys anew within that: none has to be told. */
export async function rotateKeyRing(
  context: Context,
  { ring }: RotateKeyRingRequest,
): Promise<MessageInitShape<typeof RotateKeyRingResponseSchema>> {
  const { key, previous } = await ringOf(context, ring).rotate();
  return { key: signingKeyOf(key), previous: signingKeyOf(previous) };
}
