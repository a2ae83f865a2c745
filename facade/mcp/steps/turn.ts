import type { McpRequest, StepResult } from "../request.js";

/** Goes on at once, or when the queue of the request's key comes to it, unless its client has gone by then. */
export function takeTurn(request: McpRequest): StepResult {
  const { exchange, serving } = request;
  const { shares } = serving;
  const share = shares.of(request.known.caller);
  if (shares.admits(share)) return undefined;
  const begin = (): void => request.goOn();
  shares.wait(share, begin);
  // With the client went the slot in which its body counts. A legacy client that hangs up cancels nothing (MCP 2025-11-25,
  // basic/transports), but no call has begun.
  exchange.onGone(() => shares.leave(share, begin));
  return "taken";
}
