import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import type {
  BelongingSchema,
  ListBelongingsRequestSchema,
  ListBelongingsResponseSchema,
} from "#proto/core/v1/belongings_service_pb.js";
import type { Context, Kind } from "../context.js";
import type { ObjectRecord } from "../record.js";
import { type Owned, ownedBy, RUN, wordOf } from "./sections.js";

type Row = MessageInitShape<typeof BelongingSchema>;

const PAGE_SIZE = 25;

/** Lists what a person owns, whether or not there still is such a user: objects keep the id of their owner. */
export async function listBelongings(
  context: Context,
  { userId: owner, kinds, pageSize, pageToken }: MessageShape<typeof ListBelongingsRequestSchema>,
): Promise<MessageInitShape<typeof ListBelongingsResponseSchema>> {
  const size = pageSize === 0 ? PAGE_SIZE : pageSize;
  const { parts, nextPageToken } = await ownedBy(context, { owner, kinds, withRuns: true, size, pageToken });
  const rows = await Promise.all(parts.map((part) => rowsOf(context, part, owner)));
  return { belongings: rows.flat(), nextPageToken };
}

async function rowsOf(context: Context, { kind, records }: Owned, owner: string): Promise<Row[]> {
  if (kind === undefined)
    return records.map(({ _id, agent_name }) => ({
      kind: RUN,
      id: _id,
      name: agent_name,
      enabled: true,
      active: true,
    }));
  const used = await usedByOthers(context, kind, records, owner);
  return records.map((record) => ({
    kind: wordOf(kind),
    id: record._id,
    name: record.name,
    enabled: record.enabled,
    active: kind.leaving.isActive?.(record) ?? false,
    holdsSecret: kind.leaving.holdsSecret?.(record) ?? false,
    shared: record.acl.length > 0,
    usedByOthers: used.has(record._id),
  }));
}

/** Those of some objects that objects of other owners, or of the company, refer to. */
export async function usedByOthers(
  context: Context,
  { noun }: Kind,
  records: readonly ObjectRecord[],
  owner: string,
): Promise<ReadonlySet<string>> {
  const used = new Set<string>();
  for (const { noun: other, references } of context.kinds) {
    const fields = Object.keys(references).filter((field) => references[field] === noun);
    for (const field of fields) {
      for (const { _id } of records) {
        if (used.has(_id)) continue;
        const filter = { [field]: _id, owner: { $ne: owner } };
        const found = await context.collection(other).findOne(filter, { hint: field, projection: { _id: 1 } } as never);
        if (found !== null) used.add(_id);
      }
    }
  }
  return used;
}
