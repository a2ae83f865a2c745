import { functional, missingReference } from "../errors.js";
import { maySet } from "../rights.js";
import type { Refs, Thing } from "../thing.js";
import { orderOf, type Visit } from "../world.js";

/** The references as a creation gives them. */
export interface GivenRefs {
  readonly createdBy?: string | null;
  readonly objectMarking?: readonly string[] | null;
  readonly objectLabel?: readonly string[] | null;
  readonly externalReferences?: readonly string[] | null;
  readonly killChainPhases?: readonly string[] | null;
  readonly objects?: readonly string[] | null;
}

/**
 * Resolves the references of a creation as the caller. What is unknown, or
 * hidden from the caller, is dropped without a word, unless the request asks
 * for errors.
 */
export function resolveRefs(given: GivenRefs, type: string, visit: Visit): Refs {
  const unresolved: string[] = [];
  const { graph, account, draft } = visit;
  const resolve = (ids: readonly string[] | null | undefined, find: (id: string) => Thing | undefined): string[] => {
    const found: string[] = [];
    for (const id of ids ?? []) {
      const thing = find(id);
      if (thing === undefined) unresolved.push(id);
      else if (!found.includes(thing.id)) found.push(thing.id);
    }
    return found;
  };
  const visible = (id: string) => graph.see(id, account, draft);
  const ofType = (wanted: string) => (id: string) => {
    const thing = visible(id);
    return thing?.type === wanted ? thing : undefined;
  };
  const [author] = resolve(given.createdBy ? [given.createdBy] : [], visible);
  const refs: Refs = {
    author,
    markings: resolve(given.objectMarking, ofType("Marking-Definition")),
    labels: resolve(given.objectLabel, (id) => labelOf(id, visit)),
    externalReferences: resolve(given.externalReferences, ofType("External-Reference")),
    killChainPhases: resolve(given.killChainPhases, ofType("Kill-Chain-Phase")),
    objects: resolve(given.objects, visible),
  };
  if (visit.strict && unresolved.length > 0) throw missingReference({ unresolvedIds: unresolved });
  if (refs.markings.some((id) => !maySet(id, account))) {
    throw missingReference({ reason: "User trying to create the data has missing markings" });
  }
  if (author !== undefined && !graph.get(author)?.types.includes("Identity")) {
    throw functional("CreatedBy relation must be an Identity entity", { entityType: type });
  }
  refs.markings = highestOf(refs.markings, visit);
  return refs;
}

/** A label by id, STIX id or value in any case. */
export function labelOf(text: string, { graph }: Visit): Thing | undefined {
  const byId = graph.get(text);
  if (byId?.type === "Label") return byId;
  const wanted = text.trim().toLowerCase();
  for (const thing of graph.things.values()) {
    if (thing.type === "Label" && thing.attributes.value === wanted) return thing;
  }
  return undefined;
}

/** Of one kind only the highest stays. */
export function highestOf(ids: readonly string[], { graph }: Visit): string[] {
  const best = new Map<unknown, Thing>();
  for (const id of ids) {
    const marking = graph.get(id);
    if (marking === undefined) continue;
    const kind = marking.attributes.definition_type;
    const held = best.get(kind);
    if (held === undefined || orderOf(marking) > orderOf(held)) best.set(kind, marking);
  }
  return [...best.values()].map(({ id }) => id);
}
