import type { Call } from "../../shared/rpc/call.js";
import { pageTokenOf, positionOf } from "../../shared/rpc/page-token.js";
import type { Context } from "../context.js";
import { filterOf } from "../policy.js";
import { originOf } from "../sharing.js";
import type { ListRequest } from "./messages.js";
import type { Model } from "./model.js";
import { camelOf } from "./names.js";
import { viewsOf } from "./view.js";

const PAGE_SIZE = 25;

/** As far as a list is counted. */
const COUNTED = 10_000;

/**
 * Lists the objects that the caller can read, built-in ones first and then the newest.
 *
 * @param without fields of the record that a list does not show.
 */
export function listObjects(model: Model, without: readonly string[] = []) {
  const member = camelOf(model.plural);
  const projection = Object.fromEntries(without.map((field) => [field, 0]));
  return async (context: Context, request: ListRequest, call: Call): Promise<object> => {
    const { query, labels, pageSize = PAGE_SIZE, pageToken } = request;
    const objects = context.collection(model.noun);
    const origin = originOf(request.origin);
    const found = {
      ...filterOf(call.caller, "read"),
      ...(origin !== undefined && { origin }),
      ...(labels.length > 0 && { labels: { $all: labels } }),
      ...(query !== "" && { $or: [{ name: textOf(query) }, { description: textOf(query) }] }),
    };
    const after = positionOf(pageToken);
    const page = after === undefined ? found : { ...found, _id: { $lt: after } };
    const [records, count] = await Promise.all([
      objects.find(page, { sort: { _id: -1 }, limit: pageSize + 1, projection }).toArray(),
      objects.countDocuments(found, { limit: COUNTED + 1 }),
    ]);
    const more = records.length > pageSize;
    if (more) records.pop();
    return {
      [member]: await viewsOf(context, model, records, call),
      ...(more && { nextPageToken: pageTokenOf(records.at(-1)!._id) }),
      totalSize: Math.min(count, COUNTED),
      ...(count > COUNTED && { totalSizeIsLowerBound: true }),
    };
  };
}

function textOf(query: string): { $regex: string; $options: string } {
  return { $regex: query.replace(/[.*+?^${}()|[\]\\/-]/g, "\\$&"), $options: "i" };
}
