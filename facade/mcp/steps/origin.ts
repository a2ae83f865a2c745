import { BAD_ORIGIN } from "../../admission/refusals.js";
import type { McpRequest, StepResult } from "../request.js";

/** Refuses web pages that may not call. */
export function checkOrigin({ exchange, serving }: McpRequest): StepResult {
  if (serving.origins.allows(exchange.headers.origin)) return undefined;
  serving.unauthenticated.count(exchange);
  return BAD_ORIGIN;
}
