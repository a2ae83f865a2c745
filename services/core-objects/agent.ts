import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { AgentSchema } from "#proto/core/v1/agent_service_pb.js";
import type { Caller } from "../shared/rpc/call.js";
import { invalidArgument } from "../shared/rpc/errors.js";
import type { DocCollection } from "../shared/store/store.js";
import { filterOf, tierOf } from "./policy.js";
import { grantsFor, originWordOf } from "./sharing.js";
import type { AgentRecord, SkillRecord } from "./store.js";

/** An agent as a caller is shown it; lists leave the instructions out. */
export function agentOf(caller: Caller, record: AgentRecord): MessageInitShape<typeof AgentSchema> {
  return {
    id: record._id,
    name: record.name,
    description: record.description,
    instructions: record.instructions ?? "",
    model: record.model,
    tags: [...record.tags],
    tools: [...record.tools],
    skills: [...record.skills],
    knowledgeBases: [...record.knowledge_bases],
    enabled: record.enabled,
    origin: originWordOf(record.origin),
    owner: record.owner,
    sharing: grantsFor(caller, record),
    yourAccess: tierOf(caller, record),
    etag: record.etag,
    createdAt: timestampFromDate(record.created_at),
    updatedAt: timestampFromDate(record.updated_at),
  };
}

/**
 * Checks that the caller can see skills before they are attached.
 *
 * @throws ConnectError invalid_argument that names those the caller cannot see.
 */
export async function checkSkills(
  skills: DocCollection<SkillRecord>,
  caller: Caller,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  const filter = { _id: { $in: [...ids] }, ...filterOf(caller, "read") };
  const seen = await skills.find(filter, { projection: { _id: 1 } }).toArray();
  const known = new Set(seen.map(({ _id }) => _id));
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length === 0) return;
  throw invalidArgument(`no skill that you can see has the id ${missing.join(", ")}; list_skills names the ids`);
}
