import { accident, badInput, functional, lowConfidence, notFound, unsupported, validation } from "./errors.js";
import { kindOf } from "./kinds.js";
import { mainOf } from "./names.js";
import { observableKindOf } from "./observables.js";
import { highestOf, maySet } from "./references.js";
import { aliasesOf, type Thing, text } from "./thing.js";
import type { Visit } from "./world.js";

/** One change of a field, as the API takes it. */
export interface EditInput {
  readonly key: string;
  readonly value: readonly unknown[];
  readonly operation?: "add" | "replace" | "remove" | null;
}

export interface Commit {
  readonly commitMessage?: string | null;
  readonly references?: readonly string[] | null;
}

/** @throws ApiError where the caller's confidence is below the element's. */
export function checkConfidence(thing: Thing, { account }: Visit): void {
  if (thing.ends === undefined && thing.types.includes("Stix-Meta-Object")) return;
  if (account.maxConfidence < Number(thing.attributes.confidence ?? 0)) throw lowConfidence(account.id, thing.id);
}

/** Refuses an edit of what lives elsewhere than the draft, which would need a copy in it. */
function checkDraft(thing: Thing, { draft }: Visit): void {
  if (thing.draft !== draft) throw unsupported("Live objects are edited outside of drafts");
}

function checkCommit(thing: Thing, commit: Commit, { world, graph }: Visit): void {
  const references = commit.references ?? [];
  if (world.settings.enforceReferences.includes(thing.type) && references.length === 0) {
    throw validation("You must provide at least one external reference to update", "references");
  }
  for (const id of references) {
    if (graph.get(id)?.type !== "External-Reference")
      throw functional("Cant find element references for commit", { id });
  }
}

const COMMON = [
  "confidence",
  "revoked",
  "lang",
  "createdBy",
  "objectMarking",
  "objectLabel",
  "externalReferences",
  "killChainPhases",
  "created",
  "modified",
];

function attributesOf(thing: Thing): Readonly<Record<string, string>> {
  if (thing.ends !== undefined)
    return {
      description: "String",
      start_time: "DateTime",
      stop_time: "DateTime",
      attribute_count: "Int",
      first_seen: "DateTime",
      last_seen: "DateTime",
    };
  const observable = observableKindOf(thing.type);
  if (observable !== undefined)
    return { ...observable.attributes, x_opencti_score: "Int", x_opencti_description: "String" };
  return kindOf(thing.type)?.attributes ?? {};
}

/** Changes fields; nothing is changed where one of them is refused. */
export function patchFields(thing: Thing, input: readonly EditInput[], commit: Commit, visit: Visit): Thing {
  checkDraft(thing, visit);
  const known = attributesOf(thing);
  const wrong = input.find(({ key }) => known[key] === undefined && !COMMON.includes(key));
  if (wrong !== undefined) throw validation("You cannot update incompatible attribute", wrong.key);
  checkConfidence(thing, visit);
  checkCommit(thing, commit, visit);
  const changes = input.map((edit) => changeOf(thing, edit, known, visit));
  for (const change of changes) change();
  const { graph, account, world } = visit;
  graph.touch(thing);
  const keys = input.map(({ key }) => key);
  const message = input
    .map(
      ({ key, value, operation }) =>
        `${operation === "add" ? "adds" : operation === "remove" ? "removes" : "replaces"} \`${value.join(", ")}\` in \`${key}\``,
    )
    .join(" - ");
  // The message is kept only together with references.
  const kept = (commit.references ?? []).length > 0 ? (commit.commitMessage ?? null) : null;
  thing.refs.externalReferences = [...new Set([...thing.refs.externalReferences, ...(commit.references ?? [])])];
  world.history.record("update", thing, mainOf(thing, graph), account, message, { changes: keys, commit: kept });
  return thing;
}

function changeOf(thing: Thing, edit: EditInput, known: Readonly<Record<string, string>>, visit: Visit): () => void {
  const { key, value } = edit;
  const type = known[key];
  const merged = (own: readonly unknown[], given: readonly unknown[]) =>
    edit.operation === "add"
      ? [...new Set([...own, ...given])]
      : edit.operation === "remove"
        ? own.filter((one) => !given.includes(one))
        : [...given];
  switch (key) {
    case "objectMarking":
      if (value.some((id) => visit.graph.get(String(id)) === undefined || !maySet(idOf(id, visit), visit)))
        throw missingMarkings(value[0], visit);
      return () => {
        thing.refs.markings = highestOf(
          merged(
            thing.refs.markings,
            value.map((id) => idOf(id, visit)),
          ) as string[],
          visit,
        );
      };
    case "objectLabel": {
      // A value that is no id is ignored.
      const ids = value
        .map(String)
        .filter((id) => visit.graph.get(id)?.type === "Label")
        .map((id) => idOf(id, visit));
      return () => {
        thing.refs.labels = merged(thing.refs.labels, ids) as string[];
      };
    }
    case "createdBy":
      return () => {
        thing.refs.author = value.length === 0 ? undefined : idOf(value[0], visit);
      };
    case "externalReferences":
    case "killChainPhases":
      return () => {
        thing.refs[key] = merged(
          thing.refs[key],
          value.map((id) => idOf(id, visit)),
        ) as string[];
      };
  }
  if (type?.startsWith("[")) {
    const own = Array.isArray(thing.attributes[key]) ? (thing.attributes[key] as unknown[]) : [];
    return () => {
      thing.attributes[key] = merged(own, value);
    };
  }
  if (value.length > 1) throw validation("Attribute cannot have multiple values", key);
  const [only] = value;
  const set = castOf(thing.type, key, type ?? (key === "confidence" ? "Int" : "String"), only);
  if (key === "name") checkName(thing, String(set), visit);
  return () => {
    if (edit.operation === "remove") delete thing.attributes[key];
    else if (key === "confidence")
      thing.attributes[key] = Math.max(0, Math.min(Number(set), visit.account.maxConfidence));
    else thing.attributes[key] = set;
  };
}

function castOf(owner: string, key: string, type: string, value: unknown): unknown {
  if (/^(Int|Float)/.test(type)) {
    const number = Number(value);
    if (value === "" || Number.isNaN(number)) throw validation(`The value of ${key} is not a number`, key);
    if (key === "x_opencti_score" && (number < 0 || number > 100))
      throw validation("The score should be an integer between 0 and 100", key);
    return number;
  }
  if (type.startsWith("Boolean")) return value === true || value === "true";
  if (type.startsWith("DateTime") && Number.isNaN(Date.parse(String(value)))) {
    throw functional(
      `Validation against schema failed on attribute [${key}]: this date field is not in a valid format`,
    );
  }
  if (type.endsWith("!") && String(value ?? "").trim() === "") {
    throw functional(`Missing required elements for ${owner} creation (${key})`, { properties: [{ src: key }] });
  }
  return value;
}

function checkName(thing: Thing, name: string, { graph }: Visit): void {
  const other = graph.namesake(thing.type, [name]);
  if (other !== undefined && other !== thing) {
    throw functional("This update will produce a duplicate", { existingIds: [other.id] });
  }
}

const idOf = (id: unknown, { graph }: Visit): string => graph.get(String(id))?.id ?? String(id);

function missingMarkings(id: unknown, { account }: Visit) {
  return functional("User trying to create the data has missing markings", { id, user_markings: [...account.allowed] });
}

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
    if (target?.type !== "Marking-Definition" || !maySet(target.id, visit)) throw missingMarkings(toId, visit);
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

/** Deletes an element and its relationships. */
export function remove(thing: Thing, visit: Visit): void {
  const { graph, account, world } = visit;
  checkDraft(thing, visit);
  checkConfidence(thing, visit);
  const main = mainOf(thing, graph);
  world.history.record("delete", thing, main, account, `deletes a ${thing.type} \`${main}\``);
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
