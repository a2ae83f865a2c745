import type { Context } from "../context.js";
import type { AssignmentRecord } from "../kinds/assignments/record.js";
import type { RunRecord } from "./record.js";

// An assignment names the run of it that asked last and waits, so that users of the assignment see it.

/** The run is about to ask its user; one of somebody else, who triggered a shared assignment, is not named. */
export async function nameAsking(
  context: Pick<Context, "collection">,
  { _id, assignment, owner }: RunRecord,
): Promise<void> {
  if (assignment === "") return;
  const assignments = context.collection<AssignmentRecord>("assignment");
  await assignments.updateOne({ _id: assignment, owner }, { $set: { asking: _id } });
}

/** The run asks no more. */
export async function forgetAsking(
  context: Pick<Context, "collection">,
  { _id, assignment }: RunRecord,
): Promise<void> {
  if (assignment === "") return;
  const assignments = context.collection<AssignmentRecord>("assignment");
  await assignments.updateOne({ _id: assignment, asking: _id }, { $unset: { asking: "" } });
}
