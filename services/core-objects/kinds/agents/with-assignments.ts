import type { Call } from "../../../shared/rpc/call.js";
import type { Context } from "../../context.js";
import { newEtag } from "../../objects/gate.js";
import { filterOf } from "../../policy.js";
import { takenBy } from "../../room.js";
import { endStanding } from "../assignments/after-deletion.js";
import type { AssignmentRecord } from "../assignments/record.js";

/** Assignments that are deleted in one go, and that an answer names. */
const AT_ONCE = 100;

const AGENT_GONE = "its agent was deleted: give it another with update_assignment and agent_id, or delete it";

/**
 * What becomes of the assignments of an agent that is gone. Those that the caller may delete are deleted; those of
 * others are stopped and say why, since their text is not the caller's to delete.
 */
export async function withAssignments(context: Context, { _id: agent }: { readonly _id: string }, { caller }: Call) {
  const assignments = context.collection<AssignmentRecord>("assignment");
  const deleted: { id: string; name: string }[] = [];
  for (;;) {
    const some = await assignments.find({ agent, ...filterOf(caller, "delete") }, { limit: AT_ONCE }).toArray();
    for (const one of some) {
      const { deletedCount } = await assignments.deleteOne({ _id: one._id, agent });
      await context.room.take(one.owner, -deletedCount, -deletedCount * takenBy(one));
      if (deletedCount === 0) continue;
      await endStanding(context, one);
      deleted.push({ id: one._id, name: one.name });
    }
    if (some.length === 0) break;
  }
  const [paused_at, scheduled] = [new Date(), { agent, next_at: { $gt: new Date(0) } }];
  for (const one of await assignments.find(scheduled, { limit: AT_ONCE }).toArray())
    await context.notices.stopped(one, agent, AGENT_GONE);
  const { modifiedCount } = await assignments.updateMany(
    { agent },
    { $set: { enabled: false, next_at: null, paused: AGENT_GONE, paused_at, etag: newEtag(), updated_at: new Date() } },
  );
  return { deletedAssignments: deleted.slice(0, AT_ONCE), stoppedAssignments: modifiedCount };
}
