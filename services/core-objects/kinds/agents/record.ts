import type { ObjectRecord } from "../../record.js";

/** What the runs of an agent work with: a version of it. */
export interface AgentContent {
  readonly instructions: string;
  /** "" for the default one. */
  readonly model: string;
  /** As server/tool. */
  readonly tools: readonly string[];
  /** Ids; one whose skill is gone is skipped by whoever runs the agent. */
  readonly skills: readonly string[];
  /** Ids. */
  readonly knowledge_bases: readonly string[];
  /** Ids, as those that follow. */
  readonly prompts: readonly string[];
  readonly variables: readonly string[];
  readonly custom_tools: readonly string[];
  readonly mcp_servers: readonly string[];
  /** One, or none for the default one. */
  readonly integrations: readonly string[];
  /** Of the tools, custom/NAME and mcp/TOOL, those that are called only if the run's user says yes; absent for none. */
  readonly ask_tools?: readonly string[];
  /** Absent for the model's own. */
  readonly parameters?: ModelSettings;
  /** "" or absent for the default one of the fallback integration, or for none if there is no such integration. */
  readonly fallback_model?: string;
  /** "" or absent for the one above. */
  readonly fallback_integration?: string;
}

/** An agent as it is stored. */
export interface AgentRecord extends ObjectRecord, AgentContent {
  /** From 1; absent of an agent that was made before there were versions. Built-in ones have none. */
  readonly version?: number;
  /** When, and by the user with which id, this version was made. */
  readonly versioned_at?: Date;
  readonly author?: string;
  /** The versions before, the latest first. */
  readonly history?: readonly AgentVersionRecord[];
}

/** An agent as it was in one version. */
export interface AgentVersionRecord extends AgentContent {
  readonly version: number;
  readonly versioned_at: Date;
  /** "" where it is not known. */
  readonly author: string;
}

/** How a model answers, in the words of chat completions. */
export interface ModelSettings {
  readonly temperature?: number;
  readonly top_p?: number;
  readonly max_output_tokens?: number;
  readonly reasoning_effort?: string;
  readonly stop?: readonly string[];
}
