import type { Caller } from "../../../shared/rpc/call.js";
import { failedPrecondition, invalidArgument, notFound } from "../../../shared/rpc/errors.js";
import type { Context } from "../../context.js";
import { filterOf } from "../../policy.js";
import type { SkillRecord } from "./record.js";

/**
 * Finds the enabled skill that a caller means, by its id or its name. What
 * others share is looked at last, so that it cannot get in the way of the
 * caller's own, the company's and the built-in ones.
 *
 * @throws ConnectError not_found; failed_precondition where it is disabled;
 * invalid_argument that lists the ids where several have the name.
 */
export async function findSkill(context: Context, nameOrId: string, caller: Caller): Promise<SkillRecord> {
  const skills = context.collection<SkillRecord>("skill");
  const readable = filterOf(caller, "read");
  const byId = await skills.findOne({ _id: nameOrId, ...readable });
  if (byId?.enabled) return byId;
  let disabled = byId !== null;
  const firstHand = { $or: [{ owner: caller.id }, { origin: { $ne: "user" as const } }] };
  for (const whose of [firstHand, {}]) {
    const named = await skills.find({ name: nameOrId, ...whose, ...readable }, { limit: 10 }).toArray();
    const enabled = named.filter((skill) => skill.enabled);
    if (enabled.length > 1) {
      const ids = enabled.map(({ _id, owner }) => (owner === caller.id ? `${_id} (yours)` : _id));
      throw invalidArgument(`several skills that you can see are named ${nameOrId}; give the id: ${ids.join(", ")}`);
    }
    if (enabled.length === 1) return enabled[0]!;
    disabled ||= named.length > 0;
  }
  if (disabled) throw failedPrecondition(`the skill ${nameOrId} is disabled`);
  throw notFound(`no skill that you can see is named ${nameOrId}; list_skills names them`);
}
