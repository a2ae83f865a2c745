import { InsightService, type ListRecentChangesRequest } from "#proto/cti/v1/insight_service_pb.js";
import { dateOf } from "../../../shared/dates.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { type Binding, unary } from "../../binding.js";
import type { Platform } from "../../platform.js";
import { type Fields, fieldsOf } from "./field-labels.js";
import { bound } from "./filters.js";
import { cursorAfter, nodesOf, type Page, type Place, placeOf } from "./paging.js";
import { type Change, changesOf, RECENT } from "./recent-acts.js";
import { all, type Filter, type FilterGroup } from "./resolve.js";
import { checkTypes, relationTypesOf, withBelow } from "./types.js";

/** How recent changes are told. */
export const recentBindings: readonly Binding[] = [
  unary(InsightService.method.listRecentChanges, async (request, platform) => {
    const { fields, user } = request;
    const filters = all(
      { key: ["event_type"], values: ["mutation", "create", "update", "delete", "merge"] },
      ...periodOf(request),
      ...(request.acts.length === 0 ? [] : [{ key: ["event_scope"], values: request.acts }]),
      ...(await ofTypes(platform, request.types)),
    );
    const place = placeOf(request, ["recent", filters, fields, user]);
    if (fields.length === 0 && user === "") {
      const { logs } = await platform.graphql(RECENT, { filters, first: place.first, after: place.after });
      return { changes: await changesOf(platform, nodesOf(logs)), ...place.next(logs) };
    }
    const asked = await fieldsOf(platform, fields);
    const { changes, after, found } = await look(platform, filters, { user: user.toLowerCase(), asked }, place);
    if (changes.length === 0 && request.pageToken === "") checkKnown(asked, found);
    return { changes, ...place.next(foundOf(changes, place, after)) };
  }),
];

/** The filters of a period. @throws ConnectError invalid_argument, for one that ends before it begins. */
function periodOf({ since, until }: ListRecentChangesRequest): Filter[] {
  const [from, to] = [since && dateOf(since), until && dateOf(until)];
  if (from !== undefined && to !== undefined && from > to) throw invalidArgument("until: must not be before since");
  return [
    ...(from === undefined ? [] : [bound("timestamp", "gte", from)]),
    ...(to === undefined ? [] : [bound("timestamp", "lte", to)]),
  ];
}

/** Acts of one request, and requests of one page: the platform does not filter by field, nor by the names of users. */
const [AT_ONCE, TIMES] = [100, 5];

/** A page ends at the first request after so long: a busy platform takes seconds for one. */
const ENOUGH_MS = 10_000;

/** What acts are looked through for. */
interface Sought {
  /** Part of the name of who did them, in small letters. */
  readonly user: string;
  readonly asked: Fields;
}

/** Looks through acts from a place on, until a page is full or enough was looked at. */
async function look(platform: Platform, filters: FilterGroup, { user, asked }: Sought, place: Place) {
  const changes: Change[] = [];
  const found = new Set<string>();
  const end = performance.now() + ENOUGH_MS;
  let { after } = place;
  for (let time = 0; time < TIMES && (time === 0 || performance.now() < end); time++) {
    const { logs } = await platform.graphql(RECENT, { filters, first: AT_ONCE, after });
    const edges = (logs?.edges ?? []).flatMap((edge) => (edge === null ? [] : [edge]));
    const isLast = logs === null || cursorAfter(logs) === undefined;
    const of = edges.filter(({ node }) => (node.user?.name ?? "").toLowerCase().includes(user));
    const told = await changesOf(
      platform,
      of.map(({ node }) => node),
    );
    for (const [i, change] of told.entries()) {
      for (const field of change.fields) found.add(field);
      if (asked.isEmpty || change.fields.some((field) => asked.has(field))) changes.push(change);
      const edge = of[i];
      if (changes.length === place.first)
        return { changes, found, after: isLast && edge === edges.at(-1) ? null : (edge?.cursor ?? null) };
    }
    if (isLast) return { changes, found, after: null };
    after = edges.at(-1)?.cursor ?? after;
  }
  return { changes, found, after };
}

/** @throws ConnectError invalid_argument, for a field that neither the platform's schema nor a change has. */
function checkKnown({ unknown }: Fields, found: ReadonlySet<string>): void {
  const [wrong] = unknown;
  if (wrong === undefined) return;
  const names = [...found].sort().slice(0, 30).join(", ");
  throw invalidArgument(
    `fields: ${wrong} is not a field of OpenCTI's objects; list_filter_keys returns names${names === "" ? "" : `, and the changes looked at have: ${names}`}`,
  );
}

/** A page that was put together of acts that were looked through: how many others there are is not known. */
function foundOf(changes: readonly unknown[], place: Place, after: string | null): Page<unknown> {
  return {
    edges: changes.map((node) => ({ node })),
    pageInfo: { endCursor: after ?? "", hasNextPage: after !== null, globalCount: place.offset + changes.length },
    isLowerBound: after !== null,
  };
}

/** The filter by the types of what was changed: the platform keeps the exact type of each. */
async function ofTypes(platform: Platform, types: readonly string[]): Promise<Filter[]> {
  if (types.length === 0) return [];
  const relations = [...(await relationTypesOf(platform)), SIGHTING];
  const objects = types.filter((type) => !relations.includes(type));
  await checkTypes(platform, objects, ["Stix-Domain-Object", "Stix-Cyber-Observable"]);
  return [{ key: ["context_data.entity_type"], values: await withBelow(platform, types) }];
}

const SIGHTING = "stix-sighting-relationship";
