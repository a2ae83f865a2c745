import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type { LoadSkillRequestSchema, LoadSkillResponseSchema } from "#proto/core/v1/skill_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import type { Context } from "../../context.js";
import { findNamed } from "../../objects/find-named.js";
import { shownOf } from "../../objects/view.js";
import type { SkillRecord } from "./record.js";

/** Reads a skill's instructions and names its files. */
export async function loadSkill(
  context: Context,
  { skill }: MessageShape<typeof LoadSkillRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof LoadSkillResponseSchema>> {
  const record = await findNamed<SkillRecord>(context, "skill", skill, caller);
  return {
    skill: shownOf(record, caller),
    instructions: record.instructions,
    resources: record.files.map(({ path, bytes }) => ({ path, bytes })),
  };
}
