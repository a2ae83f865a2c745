import { database, functional, missingReference, unsupported } from "../errors.js";
import { observableKindOf } from "../observables.js";
import { isAllowed, RELATION_TYPES } from "../relations.js";
import { isVisible } from "../rights.js";
import { SIGHTING, type Thing } from "../thing.js";
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
  const existing = sameTime(visit, from, to, relation, rest, ["start_time", "stop_time"]);
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
  world.history.record("create", made, mainOf(made, graph), account, world.history.sentenceOf("create", made));
  return made;
}

/**
 * Records a sighting, or takes it for one of the same two that is near in time:
 * that one's period grows, and where it does the counts are added; else the
 * count is overwritten.
 */
export function createSighting(input: EndsInput, visit: Visit): Thing {
  const [from, to] = endsOf(input, visit);
  const refs = resolveRefs(input, SIGHTING, visit);
  const { fromId: _from, toId: _to, ...given } = attributesOf(SIGHTING, input);
  const attributes = { first_seen: NEVER, last_seen: FOREVER, x_opencti_negative: false, ...given };
  if (String(attributes.first_seen) > String(attributes.last_seen))
    throw database("You cant create a relation with a first_seen greater than the last_seen");
  const existing = sameTime(visit, from, to, SIGHTING, given, ["first_seen", "last_seen"]);
  if (existing !== undefined) {
    const { first_seen, last_seen, attribute_count } = existing.attributes as Record<string, string | number>;
    const first = [String(first_seen), String(given.first_seen ?? first_seen)].sort()[0];
    const last = [String(last_seen), String(given.last_seen ?? last_seen)].sort()[1];
    const grew = first !== first_seen || last !== last_seen;
    const count = Number(given.attribute_count ?? 1) + (grew ? Number(attribute_count) : 0);
    return upsert(
      existing,
      { ...given, first_seen: first, last_seen: last, attribute_count: count },
      refs,
      input,
      visit,
    );
  }
  const { graph, account, world } = visit;
  const made = graph.add({
    type: SIGHTING,
    attributes: { ...attributes, confidence: confidenceOf(input, visit) },
    refs,
    ends: { from: from.id, to: to.id, relation: SIGHTING },
    creator: account.id,
    draft: visit.draft,
  });
  world.history.record("create", made, mainOf(made, graph), account, world.history.sentenceOf("create", made));
  return made;
}

/**
 * A relationship of the same ends and type whose times are within 30 days of
 * those that are given; of those that are not given nothing is asked.
 *
 * @throws ApiError where only such as the account may not see are there.
 */
function sameTime(
  visit: Visit,
  from: Thing,
  to: Thing,
  relation: string,
  given: Readonly<Record<string, unknown>>,
  keys: readonly string[],
): Thing | undefined {
  const near = (a: unknown, b: unknown) => Math.abs(Date.parse(String(a)) - Date.parse(String(b))) < WINDOW_MS;
  const same = visit.graph
    .relationsOf(from.id)
    .filter(
      ({ ends, attributes }) =>
        ends?.from === from.id &&
        ends.to === to.id &&
        ends.relation === relation &&
        keys.every((key) => given[key] == null || near(attributes[key], given[key])),
    );
  const visible = same.find((thing) => isVisible(thing, visit.account, visit.draft));
  if (visible === undefined && same.length > 0) throw unsupported("Restricted relation already exists");
  return visible;
}

function endsOf(input: EndsInput, { graph, account, draft }: Visit): [Thing, Thing] {
  const from = graph.see(input.fromId, account, draft);
  const to = graph.see(input.toId, account, draft);
  const unresolvedIds = [...(from ? [] : [input.fromId]), ...(to ? [] : [input.toId])];
  if (from === undefined || to === undefined) throw missingReference({ unresolvedIds });
  if (from === to) {
    throw unsupported("Relation cant be created with the same source and target", {
      doc_code: "SELF_REFERENCING_RELATION",
    });
  }
  return [from, to];
}
