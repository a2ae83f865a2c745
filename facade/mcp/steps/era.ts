import { classify } from "../era.js";
import { serveBatch, serveLegacy } from "../legacy.js";
import type { McpRequest, StepResult } from "../request.js";
import { serveModern } from "../rev-2026-07-28.js";

/** Has the message answered by the protocol of its era. */
export function serveEra(request: McpRequest): StepResult {
  const { exchange, headers, serving, message } = request;
  const found = classify(message, exchange.headers["mcp-protocol-version"]);
  if (found.kind === "refused") return { status: 400, code: found.code, message: found.message, id: found.id };
  request.message = undefined;
  if (found.kind === "modern") serveModern(serving.context, request, found.request);
  else if (found.kind === "legacy") serveLegacy(serving.context, request, found.request);
  else if (found.kind === "batch") serveBatch(serving.context, request, found.elements);
  // There is nothing to answer. Without the headers of a JSON body.
  else exchange.answer(202, headers.slice(4));
  return "taken";
}
