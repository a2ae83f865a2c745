import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  ReadSkillResourceRequestSchema,
  ReadSkillResourceResponseSchema,
} from "#proto/core/v1/skill_service_pb.js";
import type { Call } from "../../../shared/rpc/call.js";
import { notFound } from "../../../shared/rpc/errors.js";
import { quoted } from "../../../shared/rpc/quoted.js";
import { textPage } from "../../../shared/rpc/text-page.js";
import type { Context } from "../../context.js";
import { findNamed } from "../../objects/find-named.js";
import type { SkillRecord } from "./record.js";

/**
 * Reads a page of a skill's file. A path is looked up among the skill's own
 * files and never reaches a file system.
 */
export async function readSkillResource(
  context: Context,
  { skill, path, page, pageBytes }: MessageShape<typeof ReadSkillResourceRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof ReadSkillResourceResponseSchema>> {
  const record = await findNamed<SkillRecord>(context, "skill", skill, caller);
  const file = record.files.find((candidate) => candidate.path === path);
  if (file === undefined) {
    const paths = record.files.map((candidate) => candidate.path).join(", ");
    throw notFound(`the skill ${record.name} has no file ${quoted(path)}; it has ${paths === "" ? "none" : paths}`);
  }
  return textPage(file.text, page, pageBytes);
}
