import type { MessageInitShape, MessageShape } from "@bufbuild/protobuf";
import {
  type ListAvailableResourcesRequestSchema,
  type ListAvailableResourcesResponseSchema,
  ResourceKind,
  type ResourceSchema,
} from "#proto/core/v1/resource_service_pb.js";
import type { Call } from "../../shared/rpc/call.js";
import { foreignPageToken, pageTokenOf, positionOf } from "../../shared/rpc/page-token.js";
import { listPage } from "../../shared/store/page.js";
import { shorten } from "../../shared/tools/shorten.js";
import type { Context } from "../context.js";
import { namedLike } from "../objects/list.js";
import { snakeOf } from "../objects/names.js";
import { filterOf } from "../policy.js";
import type { ObjectRecord } from "../record.js";
import { originWordOf } from "../sharing.js";

const PAGE_SIZE = 20;
const ROW = { name: 1, description: 1, enabled: 1, origin: 1 };

/**
 * Lists what the caller may attach to an agent, kind by kind: the objects that
 * the caller can read of every kind that agents refer to. A page token holds the
 * kind and, after a slash, where the page before ended in it.
 */
export async function listAvailableResources(
  context: Context,
  request: MessageShape<typeof ListAvailableResourcesRequestSchema>,
  { caller }: Call,
): Promise<MessageInitShape<typeof ListAvailableResourcesResponseSchema>> {
  const { query, kind, pageSize = PAGE_SIZE, pageToken } = request;
  const nouns = attachable(context).filter((noun) => kind === ResourceKind.UNSPECIFIED || kindOf(noun) === kind);
  const [first, after] = startOf(nouns, positionOf(pageToken, request));
  const wanted = namedLike(query);
  const resources: MessageInitShape<typeof ResourceSchema>[] = [];
  let next = "";
  for (const [n, noun] of nouns.entries()) {
    if (n < first) continue;
    const left = pageSize - resources.length;
    const page = await listPage(context.collection<ObjectRecord>(noun), {
      seen: filterOf(caller, "read"),
      wanted,
      index: "access",
      order: "_id",
      direction: -1,
      after: n === first ? after : undefined,
      size: Math.max(left, 1),
      projection: ROW,
    });
    // Where the page was full when the kind before ended, this one only tells whether there is more.
    if (left > 0) resources.push(...page.items.map((one) => rowOf(noun, one)));
    if (left === 0 && (page.items.length > 0 || page.end !== undefined)) next = `${noun}/`;
    else if (page.end !== undefined) next = `${noun}/${page.end}`;
    if (next !== "") break;
  }
  return {
    resources,
    ...(next !== "" && { nextPageToken: pageTokenOf(next, request) }),
    ...(pageToken === "" && next === "" && { totalSize: resources.length }),
  };
}

/** The nouns of the kinds that agents refer to. */
function attachable({ kinds }: Context): readonly string[] {
  const { references } = kinds.find(({ noun }) => noun === "agent")!;
  return [...new Set(Object.values(references))];
}

function kindOf(noun: string): ResourceKind {
  return ResourceKind[snakeOf(noun).toUpperCase() as keyof typeof ResourceKind];
}

function startOf(
  nouns: readonly string[],
  position: string | undefined,
): readonly [first: number, after: string | undefined] {
  if (position === undefined) return [0, undefined];
  const [noun = "", after = ""] = position.split("/", 2);
  const first = nouns.indexOf(noun);
  if (first < 0) throw foreignPageToken();
  return [first, after === "" ? undefined : after];
}

function rowOf(
  noun: string,
  { _id, name, description, enabled, origin }: ObjectRecord,
): MessageInitShape<typeof ResourceSchema> {
  const kind = kindOf(noun);
  return { id: _id, kind, name, description: shorten(description), enabled, origin: originWordOf(origin) };
}
