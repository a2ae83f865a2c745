import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  LoadSkillRequestSchema,
  LoadSkillResponseSchema,
  ReadSkillResourceRequestSchema,
  ReadSkillResourceResponseSchema,
} from "#proto/core/v1/skill_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { notFound } from "../../shared/rpc/errors.js";
import { textPage } from "../../shared/rpc/text-page.js";
import { findSkill, skillOf } from "../skill.js";
import type { Collections } from "../store.js";

/** Reads a skill's instructions and names its files. */
export async function loadSkill(
  { skills }: Collections,
  { skill }: MessageShape<typeof LoadSkillRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof LoadSkillResponseSchema>> {
  const record = await findSkill(skills, caller, skill);
  return {
    skill: skillOf(caller, record),
    instructions: record.instructions,
    resources: record.files.map(({ path, bytes }) => ({ path, bytes })),
  };
}

/**
 * Reads a page of a skill's file. A path is looked up among the skill's own
 * files and never reaches a file system.
 */
export async function readSkillResource(
  { skills }: Collections,
  { skill, path, page, pageBytes }: MessageShape<typeof ReadSkillResourceRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof ReadSkillResourceResponseSchema>> {
  const record = await findSkill(skills, caller, skill);
  const file = record.files.find((candidate) => candidate.path === path);
  if (file === undefined) {
    const paths = record.files.map((candidate) => candidate.path).join(", ");
    throw notFound(`the skill ${record.name} has no file ${path}; it has ${paths === "" ? "none" : paths}`);
  }
  return textPage(file.text, page, pageBytes);
}
