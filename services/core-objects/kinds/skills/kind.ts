import { SkillSchema, SkillService } from "#proto/core/v1/skill_service_pb.js";
import { unary } from "../../../shared/rpc/method.js";
import { defineKind } from "../../objects/define-kind.js";
import { BY_NAME } from "../../objects/find-named.js";
import { given } from "../../objects/given.js";
import { readSkill } from "./builtin.js";
import { filesAfter } from "./files.js";
import { loadSkill } from "./load-skill.js";
import { readSkillResource } from "./read-skill-resource.js";
import type { SkillRecord } from "./record.js";

const { listSkills, createSkill, updateSkill, deleteSkill, ...special } = SkillService.method;

/** Skills: instructions for a kind of work, with files beside them (Agent Skills standard). */
export const kind = defineKind({
  noun: "skill",
  plural: "skills",
  message: SkillSchema,
  view: (_record: SkillRecord) => ({}),
  list: { rpc: listSkills, without: ["instructions", "files"], description: 200 },
  create: {
    rpc: createSkill,
    content: ({ instructions, files }) => ({ instructions, files: filesAfter([], files) }),
  },
  update: {
    rpc: updateSkill,
    changes: ({ instructions, putFiles, removeFiles }, current) => ({
      ...given({ instructions }),
      files: filesAfter(current.files, putFiles, removeFiles),
    }),
  },
  delete: { rpc: deleteSkill },
  commands: (context) => [
    unary(special.loadSkill, (request, call) => loadSkill(context, request, call)),
    unary(special.readSkillResource, (request, call) => readSkillResource(context, request, call)),
  ],
  capabilities: [{ name: "skill", action: "read", enabled: true }],
  indexes: [BY_NAME],
  readBuiltin: readSkill,
});
