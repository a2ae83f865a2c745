import { BAD_ORIGIN } from "../../admission/refusals.js";
import type { McpRequest, StepResult } from "../request.js";

/** Refuses web pages that may not call. */
export function checkOrigin({ exchange, serving }: McpRequest): StepResult {
  const { origin } = exchange.headers;
  if (origin === undefined || serving.origins.allows(origin)) return undefined;
  serving.unauthenticated.count(exchange);
  return BAD_ORIGIN;
}
