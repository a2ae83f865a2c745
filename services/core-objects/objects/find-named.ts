import type { Caller } from "../../shared/rpc/call.js";
import { failedPrecondition, invalidArgument, notFound } from "../../shared/rpc/errors.js";
import { quoted } from "../../shared/rpc/quoted.js";
import type { IndexSpec } from "../../shared/store/store.js";
import type { Context } from "../context.js";
import { filterOf } from "../policy.js";
import type { ObjectRecord } from "../record.js";
import { snakeOf } from "./names.js";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** The index of a kind whose objects are found by name. */
export const BY_NAME: IndexSpec = { name: "name", key: { name: 1, access: 1 } };

/**
 * Finds the enabled object that a caller means, by its id or its name. What
 * others share is looked at last, so that it cannot get in the way of the
 * caller's own, the company's and the built-in ones. The kind has {@link BY_NAME}.
 *
 * @throws ConnectError not_found; failed_precondition where it is disabled;
 * invalid_argument that lists the ids where several have the name.
 */
export async function findNamed<R extends ObjectRecord>(
  context: Context,
  noun: string,
  nameOrId: string,
  caller: Caller,
): Promise<R> {
  const { plural } = context.kinds.find((kind) => kind.noun === noun)!;
  const tool = `list_${snakeOf(plural)}`;
  const objects = context.collection<ObjectRecord>(noun);
  const readable = filterOf(caller, "read");
  const byId = await objects.findOne({ _id: nameOrId, ...readable });
  if (byId?.enabled) return byId as R;
  // Anybody may name an object, also by the id of another's: what looks like an id is one.
  if (byId !== null || UUID.test(nameOrId)) {
    if (byId !== null) throw failedPrecondition(`the ${noun} ${nameOrId} is disabled`);
    throw notFound(`no ${noun} that you can see has the id ${quoted(nameOrId)}; ${tool} returns the ids`);
  }
  const firstHand = { $or: [{ owner: caller.id }, { origin: { $ne: "user" as const } }] };
  for (const whose of [firstHand, {}]) {
    const enabled = await objects
      .find({ name: nameOrId, enabled: true, ...whose, ...readable }, { limit: 10 })
      .toArray();
    if (enabled.length > 1) {
      const ids = enabled.map(({ _id, owner }) => (owner === caller.id ? `${_id} (yours)` : _id));
      throw invalidArgument(
        `several ${plural} that you can see are named ${nameOrId}: give the id of one of ${ids.join(", ")}`,
      );
    }
    if (enabled.length === 1) return enabled[0]! as R;
  }
  if ((await objects.findOne({ name: nameOrId, ...readable })) !== null)
    throw failedPrecondition(`the ${noun} ${nameOrId} is disabled`);
  throw notFound(`no ${noun} that you can see is named ${quoted(nameOrId)}; ${tool} returns the names`);
}
