import { digest } from "./digest.js";
import type { TraceRecord, TraceStore } from "./store.js";

/** Parts of one W3C trace that are looked at: there is one for each user who sends spans of it. */
export const PARTS = 20;

/** The id of a trace's record: tells users' parts of one trace apart without naming them. */
export function recordIdOf(traceId: string, user: string): string {
  return `${traceId}.${digest(user).slice(0, 12)}`;
}

/**
 * The traces that a caller means by an id of ours or by a W3C trace id, which
 * several users' traces may share: the caller's own first, and {@link PARTS} at
 * most. Whether the caller may read them is another question.
 */
export async function tracesNamed({ traces }: TraceStore, id: string, user: string): Promise<TraceRecord[]> {
  const name = id.toLowerCase();
  // What is past its retention is not there, also before it is deleted.
  const live = { expires_at: { $gt: new Date() } };
  const projection = { batches: 0 };
  const exact = { _id: name.includes(".") ? name : recordIdOf(name, user), ...live };
  const first = await traces.findOne(exact, { projection });
  const own = first === null ? [] : [first];
  if (name.includes(".")) return own;
  const parts = await traces.find({ trace_id: name, ...live }, { limit: PARTS, projection }).toArray();
  return [...own, ...parts.filter(({ _id }) => _id !== first?._id)].slice(0, PARTS);
}
