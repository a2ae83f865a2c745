import type { McpRequest, StepResult } from "../request.js";

/** Reads the body. */
export function readBody(request: McpRequest): StepResult {
  return request.awaitBody();
}
