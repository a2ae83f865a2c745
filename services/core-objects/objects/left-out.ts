import type { MisbehavedError } from "../../shared/isolation/misbehaved.js";
import { type Connecting, keepConnection, type LeftOutRecord, type Records } from "./connection.js";

// A remote that misbehaved is left out for a while: every process and a restart know it
// by its record. A test by a person who may change the object tries it again.

/** How long one is left out the first time, in milliseconds; twice as long each time that follows. */
const FIRST_MS = { slow: 60_000, harmful: 600_000 };
const LONGEST_MS = 86_400_000;
/** Nothing is added up over longer than this, in milliseconds. */
const FORGOTTEN_MS = 86_400_000;

/** Why an object is not asked at the moment, in words; undefined where it may be. */
export function leftOut({ connection }: Connecting, now = Date.now()): string | undefined {
  if (connection?.left_out === undefined || connection.left_out.until.getTime() <= now) return undefined;
  const until = connection.left_out.until.toISOString().replace(/\.\d+Z$/, "Z");
  return `it is not used until ${until}, because ${connection.error}`;
}

/** Leaves an object out, and keeps why. @param why without what is secret. */
export async function leaveOut(
  records: Records,
  noun: string,
  id: string,
  { misbehaviour }: MisbehavedError,
  why: string,
): Promise<void> {
  const record = await records.collection<Connecting>(noun).findOne({ _id: id });
  if (record === null) return;
  const left_out = nextAfter(record.connection?.left_out, misbehaviour);
  await keepConnection(records, noun, record, { answered: false, error: why, tested_at: new Date(), left_out });
}

function nextAfter(
  before: LeftOutRecord | undefined,
  misbehaviour: "slow" | "harmful",
  now = Date.now(),
): LeftOutRecord {
  const isRecent = before !== undefined && now - before.until.getTime() < FORGOTTEN_MS;
  const times = isRecent ? before.times + 1 : 1;
  const ms = Math.min(LONGEST_MS, FIRST_MS[misbehaviour] * 2 ** (times - 1));
  return { until: new Date(now + ms), times };
}
