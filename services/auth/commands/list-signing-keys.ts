import type { MessageInitShape } from "@bufbuild/protobuf";
import type { ListSigningKeysRequest, ListSigningKeysResponseSchema } from "#proto/auth/v1/key_ring_service_pb.js";
import type { Context } from "../context.js";
import { ringsOf, signingKeyOf } from "../signing-keys.js";

/** Lists the published keys of one ring, or of all. */
export async function listSigningKeys(
  context: Context,
  { ring }: ListSigningKeysRequest,
): Promise<MessageInitShape<typeof ListSigningKeysResponseSchema>> {
  const rings = ringsOf(context).filter(({ name }) => ring === "" || ring === name);
  const listed = await Promise.all(rings.map((one) => one.list()));
  return { keys: listed.flat().map(signingKeyOf) };
}
