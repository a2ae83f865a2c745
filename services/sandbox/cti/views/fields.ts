import type { Graph } from "../graph.js";
import { type ListArgs, pageOf, select } from "../lists.js";
import { observableKindOf, observableValueOf } from "../observables.js";
import { relationDistribution } from "../operations/statistics.js";
import { statusOf } from "../operations/workflows.js";
import { isVisible } from "../rights.js";
import type { Thing } from "../thing.js";
import { see, type Visit } from "../world.js";
import { graphqlTypeOf, mainOf, secondaryOf, stixOf } from "./names.js";

type Field = (thing: Thing, args: Record<string, unknown>, visit: Visit) => unknown;

const visible = (ids: readonly string[], { graph, account, draft }: Visit): Thing[] =>
  ids.map((id) => graph.see(id, account, draft)).filter((thing) => thing !== undefined);

const listed = (things: readonly Thing[], args: Record<string, unknown>) => pageOf(things, args as ListArgs);

const containers: Field = (thing, args, visit) => {
  const types = (args.entityTypes ?? []) as string[];
  const found = visit.graph.containersOf(thing.id).filter((one) => isVisible(one, visit.account, visit.draft));
  return listed(types.length === 0 ? found : found.filter((one) => types.includes(one.type)), args);
};

const containersOfType =
  (type: string): Field =>
  (thing, args, visit) =>
    containers(thing, { ...args, entityTypes: [type] }, visit);

/** Elements that a "based-on" relationship joins to this one, from the given side. */
export const basedOn = (thing: Thing, side: "from" | "to", visit: Visit): Thing[] => {
  const joined = visit.graph.relationsOf(thing.id).filter(({ ends }) => ends?.relation === "based-on");
  return visible([...new Set(joined.map(({ ends }) => ends![side]))], visit);
};

/** What is counted of an element as its connections: every reference that is stored with it, whoever asks. */
function storedReferencesOf({ id, refs }: Thing, graph: Graph): number {
  const { author, ...lists } = refs;
  const own = Object.values(lists).reduce((sum, ids) => sum + ids.length, author === undefined ? 0 : 1);
  return own + graph.relationsOf(id).length + graph.containersOf(id).length;
}

/**
 * What a container holds. A page is taken of that and of what holds the
 * container itself, such as notes about it, and then those are left out: pages
 * may be short or empty, and the count is of both.
 */
function held(thing: Thing, args: Record<string, unknown>, visit: Visit) {
  const { types } = args as { types?: string[] | null };
  const both = [
    ...visible(thing.refs.objects, visit),
    ...visible(
      visit.graph.containersOf(thing.id).map(({ id }) => id),
      visit,
    ),
  ];
  const found = select(new Set(both), args as ListArgs, visit);
  const wanted =
    (types ?? []).length === 0 ? found : found.filter((one) => one.types.some((type) => types!.includes(type)));
  const { edges, pageInfo } = listed(wanted, args);
  const left = edges.filter(({ node }) => thing.refs.objects.includes((node as Thing).id));
  return {
    edges: left,
    pageInfo: { ...pageInfo, startCursor: left[0]?.cursor ?? "", endCursor: left.at(-1)?.cursor ?? "" },
  };
}

/** Where an end is not visible, its id and type still are, as on the platform. */
const end =
  (side: "from" | "to"): Field =>
  (thing, _, visit) =>
    visit.graph.see(thing.ends?.[side], visit.account, visit.draft) ?? null;

/** A relationship is named by its ends; one that the caller may not see is called restricted. */
function shownMain(thing: Thing, { graph, account, draft }: Visit): string {
  if (thing.ends === undefined) return mainOf(thing, graph);
  const name = (id: string) => {
    const other = graph.see(id, account, draft);
    return other === undefined ? "Restricted" : mainOf(other, graph);
  };
  return `${name(thing.ends.from)} ${thing.ends.relation} ${name(thing.ends.to)}`;
}

/** The fields that are not plain attributes. */
export const FIELDS: Readonly<Record<string, Field>> = {
  id: (thing) => thing.id,
  standard_id: (thing) => thing.standardId,
  entity_type: (thing) => thing.type,
  parent_types: (thing) => thing.types.slice(1),
  created_at: (thing) => thing.createdAt,
  updated_at: (thing) => thing.updatedAt,
  created: (thing) => thing.attributes.created ?? thing.createdAt,
  modified: (thing) => thing.updatedAt,
  x_opencti_stix_ids: () => [],
  spec_version: () => "2.1",
  is_inferred: () => false,
  revoked: (thing) => thing.attributes.revoked ?? false,
  representative: (thing, _, visit) =>
    thing.attributes.representative ?? { main: shownMain(thing, visit), secondary: secondaryOf(thing) },
  toStix: (thing, _, { graph }) => stixOf(thing, graph),
  creators: (thing, _, { world }) => world.accounts.filter(({ id }) => id === thing.creator),
  createdBy: (thing, _, { graph, account, draft }) => graph.see(thing.refs.author, account, draft) ?? null,
  objectMarking: (thing, _, { graph }) => thing.refs.markings.map((id) => graph.get(id)),
  objectLabel: (thing, _, visit) => visible(thing.refs.labels, visit),
  killChainPhases: (thing, _, visit) => visible(thing.refs.killChainPhases, visit),
  externalReferences: (thing, args, visit) => listed(visible(thing.refs.externalReferences, visit), args),
  numberOfConnectedElement: (thing, _, { graph }) => storedReferencesOf(thing, graph),
  containersNumber: (thing, _, { graph, account, draft }) => {
    const total = graph.containersOf(thing.id).filter((one) => isVisible(one, account, draft)).length;
    return { total, count: total };
  },
  containers,
  reports: containersOfType("Report"),
  notes: containersOfType("Note"),
  stixCoreRelationshipsDistribution: (thing, args, visit) => {
    const things = visit.graph.relationsOf(thing.id).filter((one) => isVisible(one, visit.account, visit.draft));
    return relationDistribution(things, { ...(args as { field: string }), fromOrToId: [thing.id] }, visit);
  },
  objects: held,
  status: (thing) => statusOf(thing.attributes.x_opencti_workflow_id) ?? null,
  observable_value: (thing) => {
    const kind = observableKindOf(thing.type);
    return kind === undefined ? "Unknown" : observableValueOf(kind, thing.attributes);
  },
  indicators: (thing, args, visit) => listed(basedOn(thing, "from", visit), args),
  observables: (thing, args, visit) => listed(basedOn(thing, "to", visit), args),
  relationship_type: (thing) => thing.ends?.relation ?? null,
  fromId: (thing) => thing.ends?.from ?? null,
  toId: (thing) => thing.ends?.to ?? null,
  fromType: (thing, _, { graph }) => graph.get(thing.ends?.from ?? "")?.type ?? "Unknown",
  toType: (thing, _, { graph }) => graph.get(thing.ends?.to ?? "")?.type ?? "Unknown",
  from: end("from"),
  to: end("to"),
};

/** One field of an element. */
export function fieldOf(thing: Thing, name: string, args: Record<string, unknown>, visit: Visit): unknown {
  const field = FIELDS[name];
  if (field !== undefined) return field(thing, args, visit);
  if (name === "name" && thing.type === "Observed-Data") return mainOf(thing, visit.graph);
  return thing.attributes[name] ?? null;
}

/** The GraphQL type of a value of an abstract type. */
export function typeNameOf(value: unknown): string {
  const thing = value as Partial<Thing> & { readonly email?: string };
  return thing.email !== undefined ? "Creator" : graphqlTypeOf(thing as Thing);
}

/** Whether a container holds an element: the container by internal id only, the element by any. */
export function contains(containerId: string, objectId: string, type: string, visit: Visit): boolean {
  const container = see(visit, containerId, type);
  const object = visit.graph.see(objectId, visit.account, visit.draft);
  return container?.id === containerId && object !== undefined && container.refs.objects.includes(object.id);
}
