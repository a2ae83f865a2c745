import { badInput, functional, unsupported, validation } from "../errors.js";
import { type Kind, kindOf, REFERENCES } from "../kinds.js";
import { isWellFormed, type ObservableKind, observableKindOf, observableValueOf } from "../observables.js";
import { isVisible } from "../rights.js";
import { aliasesOf, type Refs, type Thing, text } from "../thing.js";
import { mainOf } from "../views/names.js";
import type { Visit } from "../world.js";
import { decayOf } from "./decay.js";
import { type GivenRefs, highestOf, labelOf, resolveRefs } from "./references.js";
import { VOCABULARIES, type Vocabulary, vocabularyOf } from "./vocabularies.js";
import { statusesOf } from "./workflows.js";

/** What a creation gives: attributes and references. */
export type Input = Readonly<Record<string, unknown>> & GivenRefs;

const TECHNICAL = [
  "stix_id",
  "update",
  "confidence",
  "revoked",
  "lang",
  "created",
  "modified",
  "basedOn",
  "createObservables",
  ...REFERENCES,
];

/** Creates a domain object, or takes it for one that is there already. */
export function createDomainObject(kind: Kind, input: Input, visit: Visit): Thing {
  const missing = Object.entries(kind.attributes)
    .filter(
      ([name, type]) => type.endsWith("!") && typeof input[name] === "string" && (input[name] as string).trim() === "",
    )
    .map(([src]) => ({ src }));
  if (missing.length > 0) {
    const names = missing.map(({ src }) => src).join(", ");
    throw functional(`Missing required elements for ${kind.type} creation (${names})`, { properties: missing });
  }
  if (kind.type === "Indicator") checkPattern(input);
  checkScore(input);
  requireReference(kind.type, input, visit);
  const refs = resolveRefs(input, kind.type, visit);
  const attributes = attributesOf(kind.type, input);
  if (kind.type === "Indicator") Object.assign(attributes, indicatorDefaults(attributes));
  const existing = existingOf(kind, attributes, visit);
  if (existing !== undefined) return upsert(existing, attributes, refs, input, visit);
  const [status] = statusesOf(kind.type);
  if (status !== undefined) attributes.x_opencti_workflow_id = status.id;
  return record(kind.type, attributes, refs, input, visit);
}

function record(type: string, attributes: Record<string, unknown>, refs: Refs, input: Input, visit: Visit): Thing {
  const { graph, account, draft, world } = visit;
  const thing = graph.add({
    type,
    attributes: { ...attributes, confidence: confidenceOf(input, visit) },
    refs,
    creator: account.id,
    draft,
  });
  const main = mainOf(thing, graph);
  world.history.record("create", thing, main, account, world.history.sentenceOf("create", thing));
  return thing;
}

/** Asked above one's maximum is cut to it; not given is the maximum. */
export function confidenceOf(input: Input, { account }: Visit): number {
  const asked = typeof input.confidence === "number" ? input.confidence : account.maxConfidence;
  return Math.max(0, Math.min(asked, account.maxConfidence));
}

/** The attributes that a creation gives, without what is kept elsewhere; words outside a vocabulary are left out. */
export function attributesOf(type: string, input: Input): Record<string, unknown> {
  const attributes: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(input)) {
    if (TECHNICAL.includes(name) || value === null || value === undefined) continue;
    const vocabulary = vocabularyOf(type, name);
    if (vocabulary === undefined || name === "pattern_type") attributes[name] = value;
    else {
      const known = [value].flat().flatMap((one) => wordOf(vocabulary, String(one)));
      const field = vocabulary.fields.find(({ key }) => key === name);
      if (known.length > 0) attributes[name] = field?.multiple ? known : known[0];
      else if (field?.required) throw functional("Missing mandatory attribute for vocabulary", { key: name });
    }
  }
  return attributes;
}

/** A word in the spelling of its vocabulary. */
const wordOf = ({ words }: Vocabulary, given: string): string[] =>
  words.filter((word) => word.toLowerCase() === given.trim().toLowerCase());

/** What is told apart by the time of its creation and these. */
const TIMED: Readonly<Record<string, readonly string[]>> = {
  Note: ["content", "attribute_abstract"],
  Opinion: ["opinion"],
  Task: ["name"],
  Grouping: ["name", "context"],
};

/** By its deterministic id, or by any of its names; a note is another one in the next millisecond. */
function existingOf(kind: Kind, attributes: Record<string, unknown>, visit: Visit): Thing | undefined {
  const { graph, account, draft } = visit;
  const timed = kind.parents.includes("Case") ? ["name"] : TIMED[kind.type];
  if (timed !== undefined) {
    const now = new Date().toISOString();
    return find(
      visit,
      kind.type,
      (thing) => thing.createdAt === now && timed.every((key) => thing.attributes[key] === attributes[key]),
    );
  }
  let found: Thing | undefined;
  if (kind.type === "Indicator")
    found = find(visit, kind.type, (thing) => thing.attributes.pattern === attributes.pattern);
  else if (kind.type === "Report") {
    const name = String(attributes.name).toLowerCase();
    found = find(
      visit,
      kind.type,
      (thing) => text(thing, "name")?.toLowerCase() === name && thing.attributes.published === attributes.published,
    );
  } else if (typeof attributes.name === "string") found = graph.namesake(kind.type, [attributes.name]);
  if (found !== undefined && !isVisible(found, account, draft)) {
    throw unsupported("Restricted entity already exists", { doc_code: "RESTRICTED_ELEMENT" });
  }
  return found;
}

function find({ graph }: Visit, type: string, test: (thing: Thing) => boolean): Thing | undefined {
  for (const thing of graph.things.values()) if (thing.type === type && test(thing)) return thing;
  return undefined;
}

/** Takes a creation for an existing element: overwrites what was sent, unless the confidence is lower. */
export function upsert(
  existing: Thing,
  attributes: Record<string, unknown>,
  refs: Refs,
  input: Input,
  visit: Visit,
): Thing {
  const confidence = confidenceOf(input, visit);
  if (confidence < Number(existing.attributes.confidence ?? 0)) return existing;
  const { name } = attributes;
  const old = text(existing, "name");
  const renamed = typeof name === "string" && old !== undefined && name.toLowerCase() !== old.toLowerCase();
  const aliases = renamed ? { aliases: [...new Set([...aliasesOf(existing), old])] } : {};
  Object.assign(existing.attributes, attributes, aliases, { confidence });
  existing.refs.author = refs.author ?? existing.refs.author;
  existing.refs.markings = highestOf([...existing.refs.markings, ...refs.markings], visit);
  for (const key of ["labels", "externalReferences", "killChainPhases", "objects"] as const) {
    existing.refs[key] = [...new Set([...existing.refs[key], ...refs[key]])];
  }
  const changes = Object.keys(attributes);
  visit.graph.touch(existing);
  const main = mainOf(existing, visit.graph);
  visit.world.history.record("update", existing, main, visit.account, `updates \`${changes.join(", ")}\``, { changes });
  return existing;
}

const PATTERN_TYPES = VOCABULARIES.find(({ category }) => category === "pattern_type_ov");
const PATTERN_FORMS: Readonly<Record<string, RegExp>> = { stix: /^\s*\[.+\]/s, yara: /rule\s+\w+[^{]*\{.*\}/s };

function checkPattern(input: Input): void {
  const of = input.x_opencti_main_observable_type;
  if (typeof of === "string" && !["", "Unknown", "File"].includes(of) && observableKindOf(of) === undefined)
    throw functional(`Observable type ${of} is not supported.`);
  const type = String(input.pattern_type);
  if (!PATTERN_TYPES?.words.includes(type))
    throw functional("Indicator pattern type is not supported", { pattern_type: type });
  const form = PATTERN_FORMS[type];
  if (form !== undefined && !form.test(String(input.pattern))) {
    throw functional(`Indicator of type ${type} is not correctly formatted.`, {
      doc_code: "INCORRECT_INDICATOR_FORMAT",
    });
  }
}

function indicatorDefaults(given: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const type = given.x_opencti_main_observable_type === "File" ? "StixFile" : given.x_opencti_main_observable_type;
  const known = type ?? (given.pattern_type === "yara" ? "StixFile" : "Unknown");
  return {
    ...decayOf({ ...given, x_opencti_main_observable_type: known }),
    x_opencti_detection: given.x_opencti_detection ?? false,
    x_opencti_main_observable_type: known,
  };
}

function checkScore(input: Input): void {
  const score = input.x_opencti_score;
  if (typeof score === "number" && (score < 0 || score > 100)) {
    throw validation("The score should be an integer between 0 and 100", "x_opencti_score");
  }
}

function requireReference(type: string, input: Input, { world }: Visit): void {
  if (!world.settings.enforceReferences.includes(type) || (input.externalReferences ?? []).length > 0) return;
  throw validation(
    "You must provide at least one external reference to create this type of entity",
    "externalReferences",
  );
}

/** Creates an observable from the argument of its type, or takes it for one of the same value. */
export function createObservable(args: Input & { readonly type: string }, visit: Visit): Thing {
  const kind = observableKindOf(args.type);
  if (kind === undefined) throw functional(`Observable type ${args.type} is not supported.`);
  const own = args[kind.graphql] as Record<string, unknown> | undefined;
  if (own === undefined || own === null)
    throw functional(`Expecting variable ${kind.graphql} in the input, got nothing.`);
  checkScore(args);
  if (!isWellFormed(kind, own)) {
    throw functional("Observable is not correctly formatted", {
      type: kind.type,
      input: own,
      doc_code: "INCORRECT_OBSERVABLE_FORMAT",
    });
  }
  requireReference(kind.type, args, visit);
  const refs = resolveRefs(args, kind.type, visit);
  const { x_opencti_score, x_opencti_description } = args;
  const attributes = {
    ...Object.fromEntries(Object.entries(own).filter(([, value]) => value !== null && value !== undefined)),
    ...(x_opencti_score != null && { x_opencti_score }),
    ...(x_opencti_description != null && { x_opencti_description }),
  };
  const existing = sameObservable(kind, attributes, visit);
  if (existing !== undefined) return upsert(existing, attributes, refs, args, visit);
  return record(kind.type, attributes, refs, args, visit);
}

function sameObservable(kind: ObservableKind, attributes: Record<string, unknown>, visit: Visit): Thing | undefined {
  const value = observableValueOf(kind, attributes);
  const folds = ["Domain-Name", "Hostname", "Email-Addr"].includes(kind.type);
  const same = (one: string) => (folds ? one.toLowerCase() === value.toLowerCase() : one === value);
  const found = find(visit, kind.type, (thing) => same(observableValueOf(kind, thing.attributes)));
  if (found !== undefined && !isVisible(found, visit.account, visit.draft)) {
    throw unsupported("Restricted entity already exists", { doc_code: "RESTRICTED_ELEMENT" });
  }
  return found;
}

/** A label of this value, made where there is none; an old one keeps its colour. */
export function createLabel(input: { readonly value: string; readonly color?: string | null }, visit: Visit): Thing {
  const value = input.value.trim().toLowerCase();
  if (value === "") throw badInput("A label needs a value");
  const color = input.color ?? "#0fbcff";
  return (
    labelOf(value, visit) ?? visit.graph.add({ type: "Label", attributes: { value, color }, creator: visit.account.id })
  );
}

/** Creates by the generic form: few fields, any kind. */
export function createGeneric({ type, ...input }: Input & { readonly type: string }, visit: Visit): Thing {
  const kind = kindOf(type);
  if (kind === undefined) throw functional("Unsupported entity type", { type });
  const now = new Date().toISOString();
  return createDomainObject(kind, kind.type === "Report" ? { ...input, published: now } : input, visit);
}
