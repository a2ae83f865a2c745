import type { Entry } from "../history.js";
import { labelOf } from "../labels.js";
import type { ListArgs } from "../lists.js";
import type { Visit } from "../world.js";

interface LogFilter {
  readonly key: readonly string[];
  readonly values?: readonly string[] | null;
  readonly operator?: string | null;
}

/** What an entry has under a key that its list is filtered by. */
function ownOf(key: string, entry: Entry): readonly string[] {
  switch (key) {
    case "context_data.id":
      return [entry.entityId];
    case "context_data.entity_type":
      return [entry.entityType];
    case "event_type":
      return ["mutation", entry.scope];
    default:
      return [entry.scope];
  }
}

/** History by the filters that apply to it: the object's internal id, the kind of act. */
export function logs(args: ListArgs, visit: Visit) {
  const filters = (args.filters?.filters ?? []) as readonly LogFilter[];
  const holds = ({ key, values, operator }: LogFilter, entry: Entry) => {
    if (key[0] === "timestamp") {
      const at = Date.parse(values?.[0] ?? "");
      return operator === "lte" ? entry.at <= at : entry.at >= at;
    }
    return (values ?? []).some((value) => ownOf(key[0] ?? "", entry).includes(value));
  };
  const found = visit.world.history
    .seenBy(visit.account)
    .filter((entry) => filters.every((filter) => holds(filter, entry)));
  const ordered = args.orderMode === "asc" ? found.reverse() : found;
  const start = args.after ? ordered.findIndex((entry) => cursorOf(entry) === args.after) + 1 : 0;
  const rows = ordered.slice(start, start + (args.first ?? 500));
  return {
    edges: rows.map((entry) => ({ cursor: cursorOf(entry), node: logOf(entry) })),
    pageInfo: {
      startCursor: rows[0] === undefined ? "" : cursorOf(rows[0]),
      endCursor: rows.length === 0 ? "" : cursorOf(rows.at(-1)!),
      hasNextPage: rows.length === args.first,
      hasPreviousPage: false,
      globalCount: ordered.length,
    },
  };
}

const cursorOf = (entry: Entry): string =>
  Buffer.from(JSON.stringify([entry.at, `history--${entry.id}`])).toString("base64");

const logOf = (entry: Entry) => ({
  id: entry.id,
  entity_type: "History",
  event_type: "mutation",
  event_scope: entry.scope,
  timestamp: new Date(entry.at).toISOString(),
  user: { ...entry.by, entity_type: "User", email: "" },
  context_data: {
    entity_id: entry.entityId,
    entity_type: entry.entityType,
    entity_name: entry.entityName,
    from_id: entry.ends?.from ?? null,
    to_id: entry.ends?.to ?? null,
    message: entry.message,
    commit: entry.commit,
    changes: entry.changes.map((key) => ({ field: labelOf(key) })),
  },
});
