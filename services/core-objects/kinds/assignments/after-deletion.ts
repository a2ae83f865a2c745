import type { Call } from "../../../shared/rpc/call.js";
import type { Context } from "../../context.js";
import type { Begun } from "../../objects/leaving.js";
import { placeOf } from "../../objects/secrets.js";
import { ENDED } from "../../runs/record.js";
import type { AssignmentRecord } from "./record.js";

/** Runs that an answer names: nobody has more that have not ended. */
const NAMED = 100;

/** Ends what stood for the owner of one that is gone. @returns the caller's runs of it, which go on. */
export async function afterDeletion(context: Context, gone: AssignmentRecord, { caller }: Call) {
  await endStanding(context, gone);
  const unfinished = { owner: caller.id, state: { $in: ["queued", "running", "awaiting_input"] as const } };
  const runs = await context.runs
    .find({ ...unfinished, assignment: gone._id } as never, {
      limit: NAMED,
      projection: { agent_name: 1 },
      hint: "state",
    })
    .toArray();
  return { unfinishedRuns: runs.map(({ _id, agent_name }) => ({ id: _id, name: agent_name })) };
}

/**
 * What stands for the owner of a schedule is forgotten with its record, and auth hears of it unless it is away. A run
 * that the schedule began still acts by it until it ends.
 */
export async function endStanding(
  { delegations, seal, runs }: Begun,
  { _id, owner, delegation }: Pick<AssignmentRecord, "_id" | "owner" | "delegation">,
): Promise<void> {
  if (delegation === "") return;
  const [last] = await runs
    .find({ owner, assignment: _id }, { sort: { _id: -1 }, limit: 1, hint: "assignment", projection: { state: 1 } })
    .toArray();
  if (last !== undefined && !ENDED.has(last.state)) return;
  await delegations.end(seal.open(delegation, placeOf({ plural: "assignments" }, _id, "delegation"))).catch(() => {});
}
