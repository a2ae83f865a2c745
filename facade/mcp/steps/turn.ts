import type { McpRequest, StepResult } from "../request.js";

/** Goes on at once, or when the queue of the request's key comes to it. */
export function takeTurn(request: McpRequest): StepResult {
  const { shares } = request.serving;
  const share = shares.of(request.known.caller);
  if (shares.admits(share)) return undefined;
  shares.wait(share, () => request.goOn());
  return "taken";
}
