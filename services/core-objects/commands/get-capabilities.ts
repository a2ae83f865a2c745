import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  GetCapabilitiesRequestSchema,
  GetCapabilitiesResponseSchema,
} from "#proto/core/v1/capability_service_pb.js";
import type { Call, Caller } from "../../shared/rpc/call.js";
import type { Capability, Context, Kind } from "../context.js";
import { filterOf } from "../policy.js";

/** Names what the caller can reach: one index look-up a capability. */
export async function getCapabilities(
  context: Context,
  _request: MessageShape<typeof GetCapabilitiesRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof GetCapabilitiesResponseSchema>> {
  const asked = context.kinds.flatMap((kind) => kind.capabilities.map((capability) => ({ kind, capability })));
  const held = await Promise.all(asked.map(({ kind, capability }) => holds(context, kind, capability, caller)));
  const names = asked.flatMap(({ capability }, i) => (held[i] ? [capability.name] : []));
  return { capabilities: [...names, ...(caller.admin ? ["admin"] : [])] };
}

async function holds(context: Context, kind: Kind, capability: Capability, caller: Caller): Promise<boolean> {
  const { action, enabled } = capability;
  const filter = { ...filterOf(caller, action), ...(enabled && { enabled }) };
  return (await context.collection(kind.noun).findOne(filter, { projection: { _id: 1 } })) !== null;
}
