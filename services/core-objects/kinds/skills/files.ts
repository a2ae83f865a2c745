import type { MessageShape } from "@bufbuild/protobuf";
import type { SkillFileSchema } from "#proto/core/v1/skill_service_pb.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { quoted } from "../../../shared/rpc/quoted.js";
import type { SkillFileRecord } from "./record.js";

const MAX_FILES = 100;
const MAX_SKILL_BYTES = 2 << 20;

/**
 * The files of a skill after some were put and some removed, by path.
 *
 * @throws ConnectError invalid_argument for a path that is not plainly inside
 * the skill, or for more than fits.
 */
export function filesAfter(
  current: readonly SkillFileRecord[],
  put: readonly MessageShape<typeof SkillFileSchema>[],
  remove: readonly string[] = [],
): SkillFileRecord[] {
  const files = new Map(current.map((file) => [file.path, file]));
  for (const path of remove) {
    if (!files.delete(path)) throw invalidArgument(`the skill has no file ${quoted(path)} to remove`);
  }
  for (const { path, text } of put) {
    checkPath(path);
    files.set(path, { path, text, bytes: Buffer.byteLength(text) });
  }
  const all = [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  if (all.length > MAX_FILES) throw invalidArgument(`a skill can have at most ${MAX_FILES} files`);
  const bytes = all.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > MAX_SKILL_BYTES)
    throw invalidArgument(`the files of a skill can have at most ${MAX_SKILL_BYTES} bytes together`);
  return all;
}

// Skills are also written to disk as they are, by those who install them, so a
// path must mean a file inside the skill on every system.
function checkPath(path: string): void {
  const segments = path.split("/");
  const plain = segments.every((segment) => /^[A-Za-z0-9_][A-Za-z0-9_. -]*$/.test(segment) && !/[. ]$/.test(segment));
  if (!plain || segments.length > 8) {
    throw invalidArgument(
      `${quoted(path)} is not a valid path inside the skill: use names of letters, digits, dots, hyphens and underscores, separated by /`,
    );
  }
  if (path.toUpperCase() === "SKILL.MD")
    throw invalidArgument("the service writes SKILL.md from the fields of the skill: give only other files");
}
