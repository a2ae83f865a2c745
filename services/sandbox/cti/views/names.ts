import type { Graph } from "../graph.js";
import { kindOf } from "../kinds.js";
import { observableKindOf, observableValueOf } from "../observables.js";
import { type Thing, text } from "../thing.js";

/** What the platform calls an element: its main and secondary representation. */
export function mainOf(thing: Thing, graph: Graph): string {
  const { attributes, ends, type } = thing;
  if (ends !== undefined) {
    const name = (id: string) => {
      const end = graph.get(id);
      return end === undefined ? "Restricted" : mainOf(end, graph);
    };
    return `${name(ends.from)} ${ends.relation} ${name(ends.to)}`;
  }
  const observable = observableKindOf(type);
  if (observable !== undefined) return observableValueOf(observable, attributes);
  if (type === "Attack-Pattern" && attributes.x_mitre_id) return `[${attributes.x_mitre_id}] ${attributes.name}`;
  // A note without a title has no name; its text is none.
  if (type === "Note") return text(thing, "attribute_abstract") ?? "Unknown";
  if (type === "Observed-Data") return `${attributes.first_observed} - ${attributes.last_observed}`;
  const names = ["name", "opinion", "result_name", "definition", "value", "source_name", "phase_name"];
  for (const name of names) {
    const value = text(thing, name);
    if (value !== undefined) return value;
  }
  return "Unknown";
}

/** What the platform says of an element beside its name. */
export const secondaryOf = (thing: Thing): string | null =>
  text(thing, "description") || text(thing, "x_opencti_description") || text(thing, "content") || null;

/** The GraphQL type of an element. */
export function graphqlTypeOf(thing: Thing): string {
  if (thing.type === "stix-sighting-relationship") return "StixSightingRelationship";
  if (thing.ends !== undefined) return "StixCoreRelationship";
  return kindOf(thing.type)?.graphql ?? observableKindOf(thing.type)?.graphql ?? thing.type.replaceAll("-", "");
}

/** The element as STIX 2.1 JSON, with the platform's extension. */
export function stixOf(thing: Thing, graph: Graph): string {
  const standard = (id: string | undefined) => (id === undefined ? undefined : graph.get(id)?.standardId);
  const { refs, ends } = thing;
  const { x_opencti_score, x_opencti_description, ...attributes } = thing.attributes;
  return JSON.stringify({
    id: thing.standardId,
    spec_version: "2.1",
    type: thing.standardId.split("--")[0],
    extensions: {
      "extension-definition--ea279b3e-5c71-4632-ac08-831c66a786ba": {
        extension_type: "property-extension",
        id: thing.id,
        type: thing.type,
        created_at: thing.createdAt,
        updated_at: thing.updatedAt,
        is_inferred: false,
        creator_ids: [thing.creator],
        ...(x_opencti_score !== undefined && { score: x_opencti_score }),
        ...(x_opencti_description !== undefined && { description: x_opencti_description }),
      },
    },
    created: thing.createdAt,
    modified: thing.updatedAt,
    ...attributes,
    ...(ends !== undefined && {
      relationship_type: ends.relation,
      source_ref: standard(ends.from),
      target_ref: standard(ends.to),
    }),
    created_by_ref: standard(refs.author),
    object_marking_refs: refs.markings.map(standard),
    labels: refs.labels.map((id) => graph.get(id)?.attributes.value),
    ...(refs.objects.length > 0 && { object_refs: refs.objects.map(standard).filter((id) => id !== undefined) }),
  });
}
