import { createHash } from "node:crypto";
import type { AuthStore, DelegationRecord } from "./store.js";

/** The id of a delegation's record: what stands for it has 256 random bits, and is not kept itself. */
export function delegationId(delegation: string): string {
  return createHash("sha256").update(delegation).digest("base64url");
}

/** Delegations that are kept of one schedule: each time that its owner saves it makes another one. */
const KEPT = 16;
/** Schedules that are named in one answer. */
const NAMED = 100;
/** Records that are looked at for them. */
const LOOKED_AT = NAMED * KEPT;

/** Forgets what older saves of a schedule left, but for the latest, of which others may be saving one right now. */
export async function forgetOlder(
  { delegations }: AuthStore,
  user: string,
  { schedule_id }: Pick<DelegationRecord, "schedule_id">,
): Promise<void> {
  const filter = { user_id: user, schedule_id: schedule_id as string };
  const old = await delegations
    .find(filter, { sort: { created_at: -1 }, skip: KEPT, limit: LOOKED_AT, projection: { _id: 1 }, hint: "schedule" })
    .toArray();
  if (old.length > 0) await delegations.deleteMany({ _id: { $in: old.map(({ _id }) => _id) } });
}

/** The schedules that stand by a key: those of which the latest save was made with it. */
export async function schedulesOf(
  { delegations }: AuthStore,
  key: string,
): Promise<{ readonly schedules: readonly { id: string; name: string }[]; readonly more: boolean }> {
  const set = await delegations.find({ schedule_key: key }, { limit: LOOKED_AT, hint: "schedule_key" }).toArray();
  const found = new Map<string, string>();
  for (const { user_id, schedule_id = "" } of set) {
    if (found.has(schedule_id)) continue;
    const last = { sort: { created_at: -1 }, limit: 1, hint: "schedule" } as const;
    const [latest] = await delegations.find({ user_id, schedule_id }, last).toArray();
    if (latest?.schedule_key === key) found.set(schedule_id, latest.schedule_name ?? "");
  }
  const schedules = [...found].map(([id, name]) => ({ id, name }));
  return { schedules: schedules.slice(0, NAMED), more: schedules.length > NAMED || set.length === LOOKED_AT };
}
