import { BAD_ORIGIN, NOT_POST } from "../../admission/refusals.js";
import type { McpRequest, StepResult } from "../request.js";

/** Refuses any method but POST, and answers preflights. */
export function checkMethod({ exchange, serving }: McpRequest): StepResult {
  const { method } = exchange;
  if (method === "POST") return undefined;
  serving.unauthenticated.count(exchange);
  if (method !== "OPTIONS") return NOT_POST;
  const { origin } = exchange.headers;
  if (!serving.origins.allows(origin)) return BAD_ORIGIN;
  exchange.answer(204, serving.origins.preflightFor(origin));
  return "taken";
}
