import { functional, missingReference } from "../errors.js";
import { observableKindOf } from "../observables.js";
import { isAllowed, RELATION_TYPES } from "../relations.js";
import { isVisible } from "../rights.js";
import type { Thing } from "../thing.js";
import { mainOf } from "../views/names.js";
import type { Visit } from "../world.js";
import { attributesOf, confidenceOf, type Input, upsert } from "./create.js";
import { resolveRefs } from "./references.js";

const FOREVER = "5138-11-16T09:46:40.000Z";
const NEVER = "1970-01-01T00:00:00.000Z";
const WINDOW_MS = 30 * 86400e3;

type EndsInput = Input & { readonly fromId: string; readonly toId: string };

/** Relates two objects, or takes the relationship for the one that covers the same time. */
export function createRelationship(input: EndsInput & { readonly relationship_type: string }, visit: Visit): Thing {
  const relation = input.relationship_type;
  if (!RELATION_TYPES.includes(relation)) {
    throw functional("Only stix-core-relationship can be created through this method.");
  }
  const [from, to] = endsOf(input, visit);
  if (!isAllowed(from.type, relation, to.type, (type) => observableKindOf(type) !== undefined)) {
    throw functional(`The relationship type ${relation} is not allowed between ${from.type} and ${to.type}`);
  }
  const refs = resolveRefs(input, relation, visit);
  const { fromId: _from, toId: _to, relationship_type: _type, ...rest } = attributesOf(relation, input);
  const attributes = { description: "", start_time: NEVER, stop_time: FOREVER, ...rest };
  const near = (a: unknown, b: unknown) => Math.abs(Date.parse(String(a)) - Date.parse(String(b))) <= WINDOW_MS;
  const existing = visit.graph
    .relationsOf(from.id)
    .find(
      (thing) =>
        thing.ends?.from === from.id &&
        thing.ends.to === to.id &&
        thing.ends.relation === relation &&
        isVisible(thing, visit.account, visit.draft) &&
        (input.start_time == null || near(thing.attributes.start_time, attributes.start_time)),
    );
  if (existing !== undefined) return upsert(existing, rest, refs, input, visit);
  const { graph, account, draft, world } = visit;
  const made = graph.add({
    type: relation,
    attributes: { ...attributes, confidence: confidenceOf(input, visit) },
    refs,
    ends: { from: from.id, to: to.id, relation },
    creator: account.id,
    draft,
  });
  const main = mainOf(made, graph);
  world.history.record(
    "create",
    made,
    main,
    account,
    `creates the relation ${relation} from \`${mainOf(from, graph)}\` (${from.type}) to \`${mainOf(to, graph)}\` (${to.type})`,
  );
  return made;
}

/** Records a sighting; each is a new one. */
export function createSighting(input: EndsInput, visit: Visit): Thing {
  const [from, to] = endsOf(input, visit);
  const refs = resolveRefs(input, "stix-sighting-relationship", visit);
  const { fromId: _from, toId: _to, ...attributes } = attributesOf("stix-sighting-relationship", input);
  return visit.graph.add({
    type: "stix-sighting-relationship",
    attributes: { x_opencti_negative: false, ...attributes, confidence: confidenceOf(input, visit) },
    refs,
    ends: { from: from.id, to: to.id, relation: "stix-sighting-relationship" },
    creator: visit.account.id,
    draft: visit.draft,
  });
}

function endsOf(input: EndsInput, { graph, account, draft }: Visit): [Thing, Thing] {
  const from = graph.see(input.fromId, account, draft);
  const to = graph.see(input.toId, account, draft);
  const unresolvedIds = [...(from ? [] : [input.fromId]), ...(to ? [] : [input.toId])];
  if (from === undefined || to === undefined) throw missingReference({ unresolvedIds });
  return [from, to];
}
