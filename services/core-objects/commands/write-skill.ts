import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  CreateSkillRequestSchema,
  CreateSkillResponseSchema,
  DeleteSkillRequestSchema,
  DeleteSkillResponseSchema,
  UpdateSkillRequestSchema,
  UpdateSkillResponseSchema,
} from "#proto/core/v1/skill_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { failedPrecondition, invalidArgument } from "../../shared/rpc/errors.js";
import { listAfter } from "../lists.js";
import type { Objects } from "../objects.js";
import { may } from "../policy.js";
import type { Principals } from "../principals.js";
import { aclOf, sharingAfter, sharingIn } from "../sharing.js";
import { filesAfter, skillOf } from "../skill.js";
import { checkChanges } from "../something-to-change.js";
import type { Collections, SkillRecord } from "../store.js";

/** Creates a skill of the caller's own, or a company-managed one. */
export async function createSkill(
  skills: Objects<SkillRecord>,
  principals: Principals,
  request: MessageShape<typeof CreateSkillRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof CreateSkillResponseSchema>> {
  const acl = aclOf(await principals.of(request.sharing));
  const record = await skills.create(
    caller,
    {
      name: request.name,
      description: request.description,
      instructions: request.instructions,
      files: filesAfter([], request.files),
      tags: listAfter([], request.tags, []),
      enabled: request.enabled ?? true,
    },
    { companyManaged: request.companyManaged, acl, requestId: request.requestId },
  );
  return { skill: skillOf(caller, record) };
}

/** Changes what is given of a skill. */
export async function updateSkill(
  skills: Objects<SkillRecord>,
  principals: Principals,
  request: MessageShape<typeof UpdateSkillRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof UpdateSkillResponseSchema>> {
  checkChanges(request);
  const shares = request.share.length > 0 || request.unshare.length > 0;
  const sharing = await sharingIn(request, principals);
  const record = await skills.update(caller, request.id, request.etag, shares ? "share" : "modify", (current) => {
    const tags = listAfter(current.tags, request.addTags, request.removeTags);
    if (tags.length > MAX_TAGS)
      throw invalidArgument(`a skill has at most ${MAX_TAGS} tags; remove some in the same call`);
    return {
      ...(request.description !== undefined && { description: request.description }),
      ...(request.instructions !== undefined && { instructions: request.instructions }),
      ...(request.enabled !== undefined && { enabled: request.enabled }),
      files: filesAfter(current.files, request.putFiles, request.removeFiles),
      tags,
      ...sharingAfter(current, sharing),
    };
  });
  return { skill: skillOf(caller, record) };
}

/** Deletes a skill that no agent uses. */
export async function deleteSkill(
  skills: Objects<SkillRecord>,
  { agents }: Collections,
  { id, etag }: MessageShape<typeof DeleteSkillRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof DeleteSkillResponseSchema>> {
  await skills.remove(caller, id, etag, async () => {
    const using = await agents.find({ skills: id }, { limit: NAMED + 1, projection: { instructions: 0 } }).toArray();
    if (using.length === 0) return;
    const named = using.filter((agent) => may(caller, "read", agent)).map((agent) => `${agent.name} (${agent._id})`);
    const hidden = using.length - named.length;
    const others = hidden === 0 ? [] : [`${hidden} that you cannot see`];
    const most = using.length > NAMED ? " and more" : "";
    throw failedPrecondition(
      `agents use this skill: ${[...named, ...others].join(", ")}${most}; remove it there first, or disable it`,
    );
  });
  return { id };
}

const MAX_TAGS = 50;
const NAMED = 20;
