import type { ObjectRecord } from "../../record.js";

/** An agent as it is stored. */
export interface AgentRecord extends ObjectRecord {
  readonly instructions: string;
  /** "" for the default one. */
  readonly model: string;
  /** As server/tool. */
  readonly tools: readonly string[];
  /** Ids; one whose skill is gone is skipped by whoever runs the agent. */
  readonly skills: readonly string[];
  /** Ids. */
  readonly knowledge_bases: readonly string[];
}
