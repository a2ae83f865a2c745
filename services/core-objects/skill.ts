import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type { SkillFileSchema, SkillSchema } from "#proto/core/v1/skill_service_pb.js";
import type { Caller } from "../shared/rpc/call.js";
import { failedPrecondition, invalidArgument, notFound } from "../shared/rpc/errors.js";
import type { DocCollection } from "../shared/store/store.js";
import { filterOf, tierOf } from "./policy.js";
import { grantsFor, originWordOf } from "./sharing.js";
import type { SkillFileRecord, SkillRecord } from "./store.js";

const MAX_FILES = 100;
const MAX_SKILL_BYTES = 2 << 20;

/** A skill as a caller is shown it, without its instructions and files. */
export function skillOf(caller: Caller, record: SkillRecord): MessageInitShape<typeof SkillSchema> {
  return {
    id: record._id,
    name: record.name,
    description: record.description,
    tags: [...record.tags],
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
 * Finds the enabled skill that a caller means, by its id or its name. What
 * others share is looked at last, so that it cannot get in the way of the
 * caller's own, the company's and the built-in ones.
 *
 * @throws ConnectError not_found; failed_precondition where it is disabled;
 * invalid_argument that lists the ids where several have the name.
 */
export async function findSkill(
  skills: DocCollection<SkillRecord>,
  caller: Caller,
  nameOrId: string,
): Promise<SkillRecord> {
  const readable = filterOf(caller, "read");
  const byId = await skills.findOne({ _id: nameOrId, ...readable });
  if (byId?.enabled) return byId;
  let disabled = byId !== null;
  const firstHand = { $or: [{ owner: caller.id }, { origin: { $ne: "user" as const } }] };
  for (const whose of [firstHand, {}]) {
    const named = await skills.find({ name: nameOrId, ...whose, ...readable }, { limit: 10 }).toArray();
    const enabled = named.filter((skill) => skill.enabled);
    if (enabled.length > 1) {
      const ids = enabled.map(({ _id, owner }) => (owner === caller.id ? `${_id} (yours)` : _id));
      throw invalidArgument(`several skills that you can see are named ${nameOrId}; give the id: ${ids.join(", ")}`);
    }
    if (enabled.length === 1) return enabled[0]!;
    disabled ||= named.length > 0;
  }
  if (disabled) throw failedPrecondition(`the skill ${nameOrId} is disabled`);
  throw notFound(`no skill that you can see is named ${nameOrId}; list_skills names them`);
}

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
    if (!files.delete(path)) throw invalidArgument(`the skill has no file ${path} to remove`);
  }
  for (const { path, text } of put) {
    checkPath(path);
    files.set(path, { path, text, bytes: Buffer.byteLength(text) });
  }
  const all = [...files.values()].sort((a, b) => (a.path < b.path ? -1 : 1));
  if (all.length > MAX_FILES) throw invalidArgument(`a skill has at most ${MAX_FILES} files`);
  const bytes = all.reduce((sum, file) => sum + file.bytes, 0);
  if (bytes > MAX_SKILL_BYTES)
    throw invalidArgument(`the files of a skill have at most ${MAX_SKILL_BYTES} bytes together`);
  return all;
}

// Skills are also written to disk as they are, by those who install them, so a
// path must mean a file inside the skill on every system.
function checkPath(path: string): void {
  const segments = path.split("/");
  const plain = segments.every((segment) => /^[A-Za-z0-9_][A-Za-z0-9_. -]*$/.test(segment) && !/[. ]$/.test(segment));
  if (!plain || segments.length > 8) {
    throw invalidArgument(
      `${path} is not a path inside the skill: give names of letters, digits, dots, hyphens and underscores, with / between`,
    );
  }
  if (path.toUpperCase() === "SKILL.MD")
    throw invalidArgument("SKILL.md is made of the skill's own fields; give other files");
}
