import { EVERYONE } from "../../shared/credentials/reach.js";
import type { Context } from "../context.js";
import { NEEDED } from "../policy.js";
import type { ObjectRecord } from "../record.js";

// Which tools a user sees depends on whether there is an enabled object of some
// kinds that the user may read. Façades keep that, so a write that changes who
// may read one tells them before it is answered.

/** What decides who reaches an object; undefined of one that is not there. */
type Reachable = Pick<ObjectRecord, "access" | "enabled"> | undefined;

/** More users than these are everyone: each is an event of its own. */
const MOST_NAMED = 8;

/** Tells every process that keeps what users reach, if a write changed who reaches an object; nothing changed otherwise. */
export async function tellReach(context: Context, noun: string, before: Reachable, after: Reachable): Promise<void> {
  if (context.kinds.find((kind) => kind.noun === noun)?.capabilities.length === 0) return;
  const [were, are] = [readersOf(before), readersOf(after)];
  const changed = [...were.filter((one) => !are.includes(one)), ...are.filter((one) => !were.includes(one))];
  if (changed.length === 0) return;
  const users = changed.flatMap((principal) => (principal.startsWith("u:") ? [principal.slice(2)] : []));
  const isNamed = users.length === changed.length && users.length <= MOST_NAMED;
  await context.reachChanged(isNamed ? users : [EVERYONE]);
}

/** The principals who may read one that is enabled. */
function readersOf(object: Reachable): readonly string[] {
  if (object === undefined || !object.enabled) return [];
  const tier = `${NEEDED.read}:`;
  return object.access.flatMap((lock) => (lock.startsWith(tier) ? [lock.slice(tier.length)] : []));
}
