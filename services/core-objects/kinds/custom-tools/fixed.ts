import { fingerprintOf } from "../../fingerprint.js";
import type { CustomToolRecord } from "./record.js";

/** A custom tool with the fingerprint of what it says and does: its sharing and labels are not among that. */
export function fixedTool(tool: CustomToolRecord): { id: string; fingerprint: string }[] {
  const { name, description, method, url, input_schema, headers = [], timeout_seconds } = tool;
  const fingerprint = fingerprintOf({ name, description, method, url, input_schema, headers, timeout_seconds });
  return fingerprint === undefined ? [] : [{ id: tool._id, fingerprint }];
}

/** Whether two are the same tool, in all that a run was given of it. */
export function isSameTool(one: CustomToolRecord, other: CustomToolRecord): boolean {
  return one.etag === other.etag || fixedTool(one)[0]?.fingerprint === fixedTool(other)[0]?.fingerprint;
}
