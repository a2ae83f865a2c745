import type { JsonValue } from "@bufbuild/protobuf";
import { excessOf } from "../../rpc/json-shape.js";

/** Models at times send an object or a list as its JSON text; reads it. */
export function unquoted(json: JsonValue): JsonValue {
  if (typeof json !== "string" || !/^\s*[[{]/.test(json) || excessOf(json) !== undefined) return json;
  try {
    return JSON.parse(json) as JsonValue;
  } catch {
    return json;
  }
}
