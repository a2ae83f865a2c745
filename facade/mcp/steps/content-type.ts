import { BAD_TYPE } from "../../admission/refusals.js";
import type { McpRequest, StepResult } from "../request.js";

/** Refuses any media type but JSON. */
export function checkType({ exchange }: McpRequest): StepResult {
  const type = exchange.headers["content-type"];
  if (type === "application/json") return undefined;
  return type?.split(";", 1)[0]?.trim().toLowerCase() === "application/json" ? undefined : BAD_TYPE;
}
