import type { MessageInitShape } from "@bufbuild/protobuf";
import { timestampFromDate } from "@bufbuild/protobuf/wkt";
import type {
  BelongingSchema,
  ListBelongingsRequest,
  ListBelongingsResponseSchema,
} from "#proto/core/v1/belonging_service_pb.js";
import { invalidArgument } from "../../shared/rpc/errors.js";
import { pageTokenOf, positionOf } from "../../shared/rpc/page-token.js";
import type { Context, Kind } from "../context.js";
import type { ObjectRecord } from "../record.js";

const PAGE_SIZE = 100;

/** A record with what some kinds add. */
type Owned = ObjectRecord & { readonly next_at?: Date | null };

/** Lists what a person owns, kind by kind, each in the order of its index. */
export async function listBelongings(
  { kinds, collection }: Context,
  { ownerId: owner, pageSize, pageToken }: ListBelongingsRequest,
): Promise<MessageInitShape<typeof ListBelongingsResponseSchema>> {
  const size = pageSize === 0 ? PAGE_SIZE : pageSize;
  const { kind: first, after: begun } = placeOf(kinds, positionOf(pageToken));
  const belongings: MessageInitShape<typeof BelongingSchema>[] = [];
  let after = begun;
  for (const [at, kind] of kinds.entries()) {
    if (at < first) continue;
    const left = size - belongings.length;
    const beyond = after === "" ? { owner } : { owner, request: { $gt: after } };
    after = "";
    const found = await collection<Owned>(kind.noun)
      .find(beyond, { sort: { owner: 1, request: 1 }, limit: left + 1, hint: "request" })
      .toArray();
    const shown = found.slice(0, left);
    belongings.push(...shown.map((record) => belongingOf(kind, record)));
    if (found.length > left) {
      // Of a kind that has no place left the next page begins at its first.
      const last = shown.at(-1)?.request ?? (at === first ? begun : "");
      return { belongings, nextPageToken: pageTokenOf(`${at} ${last}`) };
    }
  }
  return { belongings };
}

function placeOf(
  kinds: readonly Kind[],
  position: string | undefined,
): { readonly kind: number; readonly after: string } {
  if (position === undefined) return { kind: 0, after: "" };
  const [, at, after] = /^(\d{1,3}) (.*)$/s.exec(position) ?? [];
  if (at === undefined || after === undefined || Number(at) >= kinds.length) {
    throw invalidArgument("page_token must be the next_page_token of the previous page; omit it to start");
  }
  return { kind: Number(at), after };
}

function belongingOf(
  { noun }: Kind,
  { _id, name, enabled, sealed_with, next_at, acl, created_at }: Owned,
): MessageInitShape<typeof BelongingSchema> {
  return {
    kind: noun,
    id: _id,
    name,
    enabled,
    hasSecret: sealed_with !== undefined && sealed_with !== "",
    ...(next_at && { nextRunAt: timestampFromDate(next_at) }),
    shared: acl.length > 0,
    createdAt: timestampFromDate(created_at),
  };
}
