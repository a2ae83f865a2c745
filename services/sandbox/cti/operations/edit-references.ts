import { accident, badInput, functional } from "../errors.js";
import { maySet } from "../rights.js";
import type { Thing } from "../thing.js";
import { mainOf } from "../views/names.js";
import type { Visit } from "../world.js";
import { type Commit, checkCommit, checkConfidence, checkDraft, missingMarkings } from "./edit.js";
import { highestOf } from "./references.js";

const LISTS = {
  "object-label": "labels",
  "external-reference": "externalReferences",
  "kill-chain-phase": "killChainPhases",
  object: "objects",
} as const;
type ListRelation = keyof typeof LISTS;
const isList = (relation: string): relation is ListRelation => relation in LISTS;

/** Adds one reference, with every check; of markings of one kind the higher stays. */
export function addReference(
  thing: Thing,
  toId: string,
  relation: string,
  visit: Visit,
): { readonly id: string; readonly entity_type: string; readonly relationship_type: string } {
  const { graph, account, draft, world } = visit;
  checkDraft(thing, visit);
  if (relation !== "object-label") checkConfidence(thing, visit);
  const target = graph.see(toId, account, draft);
  if (relation === "object-marking") {
    if (target?.type !== "Marking-Definition" || !maySet(target.id, visit.account)) throw missingMarkings(toId, visit);
    thing.refs.markings = highestOf([...thing.refs.markings, target.id], visit);
  } else if (target === undefined) {
    throw accident("Cannot read properties of undefined (reading 'internal_id')");
  } else if (relation === "created-by") {
    if (!target.types.includes("Identity"))
      throw functional("CreatedBy relation must be an Identity entity", { entityType: thing.type });
    thing.refs.author = target.id;
  } else if (isList(relation)) {
    thing.refs[LISTS[relation]] = [...new Set([...thing.refs[LISTS[relation]], target.id])];
  } else throw functional("Unsupported relation", { relation });
  graph.touch(thing);
  world.history.record(
    "update",
    thing,
    mainOf(thing, graph),
    account,
    `adds \`${target === undefined ? "" : mainOf(target, graph)}\` in \`${relation}\``,
    { changes: [relation] },
  );
  return { id: `${thing.id}-${target?.id}`, entity_type: relation, relationship_type: relation };
}

/** Adds several at once, as the platform does it: what is unknown is dropped, markings and authors are not checked. */
export function addReferences(
  thing: Thing,
  toIds: readonly string[],
  relation: string,
  commit: Commit,
  visit: Visit,
): Thing {
  const { graph, account, draft, world } = visit;
  checkDraft(thing, visit);
  if (relation !== "object-label") checkConfidence(thing, visit);
  checkCommit(thing, commit, visit);
  const found = toIds
    .map((id) => (relation === "object-marking" ? graph.get(id) : graph.see(id, account, draft)))
    .filter((target) => target !== undefined);
  if (relation === "object-marking") {
    thing.refs.markings = highestOf([...thing.refs.markings, ...found.map(({ id }) => id)], visit);
  } else if (relation === "created-by") {
    thing.refs.author = found.find((target) => target.types.includes("Identity"))?.id;
  } else if (isList(relation)) {
    const list = LISTS[relation];
    thing.refs[list] = [...new Set([...thing.refs[list], ...found.map(({ id }) => id)])];
  } else throw badInput("Unsupported relation");
  graph.touch(thing);
  if (found.length > 0) {
    const names = found.map((target) => mainOf(target, graph)).join(", ");
    world.history.record("update", thing, mainOf(thing, graph), account, `adds \`${names}\` in \`${relation}\``, {
      changes: [relation],
      commit: (commit.references ?? []).length > 0 ? (commit.commitMessage ?? null) : null,
    });
  }
  return thing;
}

/** Takes a reference off; what is not there is no error. */
export function removeReference(thing: Thing, toId: string, relation: string, visit: Visit): Thing {
  const { graph, account, world } = visit;
  checkDraft(thing, visit);
  checkConfidence(thing, visit);
  const target = graph.get(toId);
  const without = (ids: readonly string[]) => ids.filter((id) => id !== target?.id);
  if (relation === "object-marking") thing.refs.markings = without(thing.refs.markings);
  else if (relation === "created-by") thing.refs.author = undefined;
  else if (isList(relation)) thing.refs[LISTS[relation]] = without(thing.refs[LISTS[relation]]);
  graph.touch(thing);
  world.history.record(
    "update",
    thing,
    mainOf(thing, graph),
    account,
    `removes \`${target === undefined ? toId : mainOf(target, graph)}\` in \`${relation}\``,
    { changes: [relation] },
  );
  return thing;
}
