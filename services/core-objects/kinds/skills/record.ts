import type { ObjectRecord } from "../../record.js";

/** A skill as it is stored. */
export interface SkillRecord extends ObjectRecord {
  /** The body of SKILL.md. */
  readonly instructions: string;
  readonly files: readonly SkillFileRecord[];
}

/** A file of a skill; its path is relative to the skill. */
export interface SkillFileRecord {
  readonly path: string;
  readonly text: string;
  readonly bytes: number;
}
