import type { ObjectRecord } from "../../record.js";

/** A prompt as it is stored: its latest version, and those before it. */
export interface PromptRecord extends ObjectRecord, PromptVersionRecord {
  /** The versions before, the latest first; at most VERSIONS of them. */
  readonly history: readonly PromptVersionRecord[];
}

/** What a prompt said in one version. */
export interface PromptVersionRecord {
  /** From 1. */
  readonly version: number;
  /** Says {{name}} where an argument is filled in. */
  readonly template: string;
  readonly arguments: readonly PromptArgumentRecord[];
  readonly versioned_at: Date;
  /** The user's id; "" for what is built in. */
  readonly author: string;
}

/** What is filled in where a template says {{name}}. */
export interface PromptArgumentRecord {
  readonly name: string;
  readonly description: string;
  readonly required: boolean;
}
