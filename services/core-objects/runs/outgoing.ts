import type { Work } from "../../shared/isolation/isolation.js";
import { KilledError } from "../../shared/isolation/misbehaved.js";
import type { HttpMethods } from "./apart/http.js";
import type { McpMethods } from "./apart/mcp.js";
import type { ModelMethods } from "./apart/models.js";
import type { UNCLEAR } from "./apart/unclear.js";
import type { Redactor } from "./redact.js";

// What runs ask of others, and what they answer, is sent and read in processes.

const BOUNDS = { megabytes: 192, wholeMegabytes: 640, busyMs: 5_000, atOnce: 32 };

/** The client of services of models. A conversation is as long as a run's steps make it. */
export const MODELS: Work<ModelMethods> = {
  ...BOUNDS,
  module: new URL("apart/models.js", import.meta.url),
  asked: 16 * 2 ** 20,
  answered: 4 * 2 ** 20,
};

/** The client of remote MCP servers. */
export const MCP_SERVERS: Work<McpMethods> = {
  ...BOUNDS,
  module: new URL("apart/mcp.js", import.meta.url),
  asked: 2 ** 20,
  answered: 2 ** 20,
};

/** The client of custom tools. */
export const CUSTOM_TOOLS: Work<HttpMethods> = {
  ...BOUNDS,
  module: new URL("apart/http.js", import.meta.url),
  asked: 2 ** 20,
  answered: 2 ** 20,
};

/** Of a call whose answer was lost. */
export const UNSURE = "the call may or may not have taken effect";

/** Longest reason that is told, in characters. */
const MAX_REASON = 300;

const UNCLEAR_NAME: typeof UNCLEAR = "UnclearError";

/** Whether a call that failed may have taken effect: its process was ended, or no answer could be read. */
export function mayBeDone(error: unknown): boolean {
  return error instanceof KilledError || (error as Error).name === UNCLEAR_NAME;
}

/** Why nothing came of a request, in words and without what is secret. */
export function failureOf(error: unknown, redactor: Redactor): string {
  const { message } = error as { readonly message?: string };
  return redactor.redactBeginning(message ?? String(error)).slice(0, MAX_REASON);
}
