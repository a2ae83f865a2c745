import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { ListSkillsRequestSchema, ListSkillsResponseSchema } from "#proto/core/v1/skill_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import type { Objects } from "../objects.js";
import { originOf } from "../sharing.js";
import { skillOf } from "../skill.js";
import type { SkillRecord } from "../store.js";

const PAGE_SIZE = 25;

/** Lists the skills that the caller can read. */
export async function listSkills(
  skills: Objects<SkillRecord>,
  { search, tags, origin, pageSize, pageToken }: MessageShape<typeof ListSkillsRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof ListSkillsResponseSchema>> {
  const page = await skills.list(caller, {
    search,
    tags,
    origin: originOf(origin),
    pageSize: pageSize ?? PAGE_SIZE,
    pageToken,
    without: ["instructions", "files"],
  });
  return {
    skills: page.items.map((record) => skillOf(caller, record)),
    nextPageToken: page.nextPageToken,
    totalSize: page.totalSize,
  };
}
