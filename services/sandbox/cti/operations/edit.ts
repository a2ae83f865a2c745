import { functional, lowConfidence, unsupported, validation } from "../errors.js";
import { kindOf } from "../kinds.js";
import { observableKindOf } from "../observables.js";
import { maySet } from "../rights.js";
import type { Thing } from "../thing.js";
import { mainOf } from "../views/names.js";
import type { Visit } from "../world.js";
import { highestOf } from "./references.js";
import { statusesOf } from "./workflows.js";

/** One change of a field, as the API takes it. */
export interface EditInput {
  readonly key: string;
  readonly value: readonly unknown[];
  readonly operation?: "add" | "replace" | "remove" | null;
}

/** Why an edit is made. */
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
export function checkDraft(thing: Thing, { draft }: Visit): void {
  if (thing.draft !== draft) throw unsupported("Live objects are edited outside of drafts");
}

/** @throws ApiError where the type demands references and none is given, or one is unknown. */
export function checkCommit(thing: Thing, commit: Commit, { world, graph }: Visit): void {
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
  "x_opencti_workflow_id",
];

function attributesOf(thing: Thing): Readonly<Record<string, string>> {
  if (thing.ends !== undefined)
    return {
      description: "String",
      start_time: "DateTime",
      stop_time: "DateTime",
      attribute_count: "Int",
      x_opencti_negative: "Boolean",
      first_seen: "DateTime",
      last_seen: "DateTime",
    };
  const observable = observableKindOf(thing.type);
  if (observable !== undefined)
    return { ...observable.attributes, x_opencti_score: "Int", x_opencti_description: "String" };
  return { ...kindOf(thing.type)?.attributes, ...(thing.type === "Indicator" && DECAY) };
}

/** What the platform itself writes to an indicator whose score is lowered with time. */
const DECAY = { decay_base_score: "Int", decay_base_score_date: "DateTime" };

/** Changes fields; nothing is changed where one of them is refused. */
export function patchFields(thing: Thing, input: readonly EditInput[], commit: Commit, visit: Visit): Thing {
  checkDraft(thing, visit);
  const known = attributesOf(thing);
  const wrong = input.find(({ key }) => !Object.hasOwn(known, key) && !COMMON.includes(key));
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

const ALIASES = ["aliases", "x_opencti_aliases"];

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
      if (value.some((id) => visit.graph.get(String(id)) === undefined || !maySet(idOf(id, visit), visit.account)))
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
  // A state of another workflow is left out without a word.
  if (key === "x_opencti_workflow_id") {
    const status = statusesOf(thing.type).find(({ id }) => id === value[0]);
    return () => {
      if (status !== undefined) thing.attributes[key] = status.id;
    };
  }
  // What is given of other names is all there are, whatever the operation says.
  if (ALIASES.includes(key) && type !== undefined) {
    return () => {
      thing.attributes[key] = [...new Set(value.map((name) => String(name).trim()))];
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

/** Two objects made of the same are one; reports are told apart by their date too, and cases by their creation. */
function checkName(thing: Thing, name: string, { graph }: Visit): void {
  if (["Report", "Task", "Grouping"].includes(thing.type) || thing.types.includes("Case")) return;
  const other = graph.namesake(thing.type, [name]);
  if (other !== undefined && other !== thing) {
    throw functional("This update will produce a duplicate", { existingIds: [other.id] });
  }
}

const idOf = (id: unknown, { graph }: Visit): string => graph.get(String(id))?.id ?? String(id);

/** The refusal of a marking that the caller is not cleared for; like the platform's, it tells the caller's own. */
export function missingMarkings(id: unknown, { account }: Visit) {
  return functional("User trying to create the data has missing markings", { id, user_markings: [...account.allowed] });
}
