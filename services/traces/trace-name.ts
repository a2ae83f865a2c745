import type { Filter } from "../shared/store/store.js";
import type { TraceRecord } from "./store.js";

/** The traces that a caller means by an id of ours or by a W3C trace id, which several users' traces may share. */
export function tracesNamed(id: string): Filter<TraceRecord> {
  const name = id.toLowerCase();
  return name.includes(".") ? { _id: name } : { trace_id: name };
}
