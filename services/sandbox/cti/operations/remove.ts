import { functional, notFound } from "../errors.js";
import { aliasesOf, type Thing, text } from "../thing.js";
import { mainOf } from "../views/names.js";
import type { Visit } from "../world.js";
import { checkConfidence, checkDraft } from "./edit.js";
import { highestOf } from "./references.js";

/** Deletes an element and its relationships. */
export function remove(thing: Thing, visit: Visit): void {
  const { graph, account, world } = visit;
  checkDraft(thing, visit);
  checkConfidence(thing, visit);
  const { history } = world;
  history.record("delete", thing, mainOf(thing, graph), account, history.sentenceOf("delete", thing));
  graph.remove(thing);
}

/** Deletes a report with what is in no other container. */
export function purge(report: Thing, visit: Visit): void {
  const { graph } = visit;
  for (const id of [...report.refs.objects]) {
    const held = graph.see(id, visit.account, visit.draft);
    if (held !== undefined && graph.containersOf(id).length === 1) remove(held, visit);
  }
  remove(report, visit);
}

/** Merges other objects into one: their relationships, names and references move over. */
export function merge(target: Thing | undefined, sourceIds: readonly string[], visit: Visit): Thing {
  const { graph, account, draft, world } = visit;
  const sources = sourceIds.map((id) => graph.see(id, account, draft));
  if (target === undefined || sources.some((source) => source === undefined))
    throw functional("Cannot access all entities for merging");
  if (sources.includes(target))
    throw functional("Cannot merge entities, same ID detected in source and destination", {
      targetEntityId: target.id,
    });
  const found = sources as Thing[];
  for (const one of [target, ...found]) checkConfidence(one, visit);
  if (found.some((source) => source.type !== target.type)) throw functional("Cannot merge entities of different types");
  for (const source of found) {
    for (const { attributes, refs, ends, type, creator } of graph.relationsOf(source.id)) {
      const moved = (id: string) => (id === source.id ? target.id : id);
      const { from, to, relation } = ends!;
      if (moved(from) !== moved(to))
        graph.add({ type, attributes, refs, ends: { from: moved(from), to: moved(to), relation }, creator, draft });
    }
    for (const container of graph.containersOf(source.id)) container.refs.objects.push(target.id);
    const names = [...aliasesOf(target), ...aliasesOf(source), text(source, "name")].filter(
      (name) => name !== undefined,
    );
    target.attributes.aliases = [...new Set(names)];
    for (const key of ["labels", "externalReferences"] as const)
      target.refs[key] = [...new Set([...target.refs[key], ...source.refs[key]])];
    target.refs.markings = highestOf([...target.refs.markings, ...source.refs.markings], visit);
    graph.remove(source);
  }
  graph.touch(target);
  world.history.record(
    "merge",
    target,
    mainOf(target, graph),
    account,
    `merges ${target.type} \`${found.map((source) => text(source, "name")).join(", ")}\` in \`${text(target, "name")}\``,
  );
  return target;
}

/** @throws ApiError "cannot be found", for what is unknown, hidden, deleted or of another type alike. */
export function found(
  thing: Thing | undefined,
  action: "edit the field" | "delete the object",
  what: string,
  id: string,
): Thing {
  if (thing === undefined) throw notFound(action, what, id);
  return thing;
}
