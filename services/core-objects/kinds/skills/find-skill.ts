import type { Caller } from "../../../shared/rpc/call.js";
import { failedPrecondition, invalidArgument, notFound } from "../../../shared/rpc/errors.js";
import type { Context } from "../../context.js";
import { filterOf } from "../../policy.js";
import type { SkillRecord } from "./record.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

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
  // Anybody may name a skill, also by the id of another's: what looks like an id is one.
  if (byId !== null || UUID.test(nameOrId)) {
    if (byId !== null) throw failedPrecondition(`the skill ${nameOrId} is disabled`);
    throw notFound(`no skill that you can see has the id ${nameOrId}; list_skills names them`);
  }
  const firstHand = { $or: [{ owner: caller.id }, { origin: { $ne: "user" as const } }] };
  for (const whose of [firstHand, {}]) {
    const enabled = await skills
      .find({ name: nameOrId, enabled: true, ...whose, ...readable }, { limit: 10 })
      .toArray();
    if (enabled.length > 1) {
      const ids = enabled.map(({ _id, owner }) => (owner === caller.id ? `${_id} (yours)` : _id));
      throw invalidArgument(`several skills that you can see are named ${nameOrId}; give the id: ${ids.join(", ")}`);
    }
    if (enabled.length === 1) return enabled[0]!;
  }
  if ((await skills.findOne({ name: nameOrId, ...readable })) !== null)
    throw failedPrecondition(`the skill ${nameOrId} is disabled`);
  throw notFound(`no skill that you can see is named ${nameOrId}; list_skills names them`);
}
