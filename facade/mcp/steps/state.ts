import type { McpRequest, StepResult } from "../request.js";

/** Refuses requests to an endpoint that is switched off or has no platform. */
export function checkState(request: McpRequest): StepResult {
  const state = request.serving.states.of(request.endpoint.server);
  return state instanceof Promise ? request.wait(state) : state;
}
