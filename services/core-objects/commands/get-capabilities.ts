import type { MessageInitShape } from "@bufbuild/protobuf";
import type { GetCapabilitiesResponseSchema } from "#proto/core/v1/capability_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { filterOf } from "../policy.js";
import type { Collections } from "../store.js";

const ID_ONLY = { projection: { _id: 1 } };

/** Names what the caller can reach: one index look-up a capability. */
export async function getCapabilities(
  { agents, skills }: Collections,
  { caller }: Call,
): Promise<MessageInitShape<typeof GetCapabilitiesResponseSchema>> {
  const [skill, managed] = await Promise.all([
    skills.findOne({ ...filterOf(caller, "read"), enabled: true }, ID_ONLY),
    caller.admin ? true : agents.findOne(filterOf(caller, "delete"), ID_ONLY),
  ]);
  const held = { skill: skill !== null, "agent:manage": managed !== null, admin: caller.admin };
  return { capabilities: Object.entries(held).flatMap(([name, holds]) => (holds ? [name] : [])) };
}
