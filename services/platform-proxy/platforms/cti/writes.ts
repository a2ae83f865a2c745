import type { NewObjectRefs } from "#proto/cti/v1/knowledge_pb.js";
import { alreadyExists, invalidArgument, notFound, unavailable } from "../../../shared/rpc/errors.js";
import type { VariablesOf } from "../../document.js";
import { leftOpen } from "../../lib/outcome.js";
import type { Platform } from "../../platform.js";
import { confidenceNotice } from "./edits.js";
import { operation } from "./graphql.js";
import { type CoreNode, labelsOf, markingsOf as namesOf, REF } from "./knowledge.js";
import { authorIdOf, labelIdsOf, markingsOf } from "./names.js";
import { nodesOf } from "./paging.js";
import { all, any } from "./resolve.js";

/** External references by their ids. */
export const REFERENCES = operation(`
  query References($filters: FilterGroup) {
    externalReferences(filters: $filters, first: 20) {
      edges {
        node {
          id
          standard_id
        }
      }
    }
  }
`);

/** Objects of a type that bear a name. */
export const NAMESAKES = operation(
  `
  query Namesakes($types: [String], $filters: FilterGroup) {
    stixDomainObjects(types: $types, filters: $filters, first: 5) {
      edges {
        node {
          ...Ref
        }
      }
    }
  }
`,
  [REF],
);

/** The words of a vocabulary. */
export const VOCABULARY = operation(`
  query Vocabulary($category: VocabularyCategory) {
    vocabularies(category: $category, first: 200) {
      edges {
        node {
          name
        }
      }
    }
  }
`);

/** The references of a new object, as inputs of the platform share them. */
export interface NewInput {
  readonly createdBy?: string;
  readonly objectMarking?: readonly string[];
  readonly objectLabel?: readonly string[];
  readonly externalReferences?: readonly string[];
  readonly confidence?: number;
}

/** The references of a new object as the platform's input takes them, all of them resolved. */
export async function inputOf(platform: Platform, refs: NewObjectRefs | undefined): Promise<NewInput> {
  if (refs === undefined) return {};
  const markings = await markingsOf(platform, refs.markings, "refs.markings");
  const kinds = markings.map(({ definition_type }) => definition_type);
  if (new Set(kinds).size < kinds.length) {
    throw invalidArgument(
      "refs.markings: give at most one marking of each kind, because OpenCTI keeps only the highest",
    );
  }
  const labels = await labelIdsOf(platform, refs.labels, "refs.labels");
  const references = await referencesOf(platform, refs.externalReferenceIds, "refs.external_reference_ids");
  return {
    ...(refs.author !== undefined && { createdBy: await authorIdOf(platform, refs.author, "refs.author") }),
    ...(markings.length > 0 && { objectMarking: markings.map(({ id }) => id) }),
    ...(labels.length > 0 && { objectLabel: labels }),
    ...(references.length > 0 && { externalReferences: references }),
    ...(refs.confidence !== undefined && { confidence: refs.confidence }),
  };
}

/** The internal ids of external references given by any of their ids. @throws ConnectError not_found, where one is not there. */
export async function referencesOf(platform: Platform, ids: readonly string[], argument: string): Promise<string[]> {
  if (ids.length === 0) return [];
  const filters = all({ key: ["ids"], values: ids });
  const { externalReferences } = await platform.graphql(REFERENCES, { filters });
  const known = new Map(
    nodesOf(externalReferences).flatMap(({ id, standard_id }) => [[id, id] as const, [standard_id, id] as const]),
  );
  const missing = ids.filter((id) => !known.has(id));
  if (missing.length > 0) throw notFound(`${argument}: no external reference with the id ${missing.join(", ")} exists`);
  return [...new Set(ids.map((id) => known.get(id) ?? id))];
}

/**
 * Refuses names that another object of the type bears, which the platform
 * would take for that one: it would overwrite it, and rename it where the name
 * is its alias.
 *
 * @throws ConnectError already_exists, with the object's id.
 */
export async function checkNames(
  platform: Platform,
  type: string,
  names: readonly string[],
  except?: string,
): Promise<void> {
  const filters = any(...["name", "alias"].map((key) => ({ key: [key], values: names })));
  const { stixDomainObjects } = await platform.graphql(NAMESAKES, {
    types: [type],
    filters,
  });
  const other = nodesOf(stixDomainObjects).find(({ id }) => id !== except);
  if (other === undefined) return;
  throw alreadyExists(
    `nothing was written: the ${type} ${other.representative.main} (id ${other.id}) already has this name or alias; change it with update_entity`,
  );
}

/** An open vocabulary of the platform, by its name. */
export type Category = NonNullable<VariablesOf<typeof VOCABULARY>["category"]>;

/** The words in the vocabulary's own spelling. @throws ConnectError invalid_argument, for words that the platform would leave out without a word. */
export async function checkVocabulary(
  platform: Platform,
  category: Category,
  words: readonly string[],
  argument: string,
): Promise<string[]> {
  if (words.length === 0) return [];
  const { vocabularies } = await platform.graphql(VOCABULARY, {
    category,
  });
  const known = nodesOf(vocabularies).map(({ name }) => name);
  const plain = (word: string) => word.trim().toLowerCase();
  const spelt = new Map(known.map((word) => [plain(word), word]));
  const wrong = words.find((word) => !spelt.has(plain(word)));
  if (wrong !== undefined) throw invalidArgument(`${argument}: ${wrong} is not one of ${known.join(", ")}`);
  return [...new Set(words.map((word) => spelt.get(plain(word)) ?? word))];
}

/** What was asked for, to be compared with what was written. */
export interface Asked {
  readonly refs?: NewObjectRefs | undefined;
  readonly name?: string | undefined;
}

type Written = Pick<CoreNode, "representative" | "objectMarking" | "objectLabel"> & {
  readonly confidence?: number | null;
};

/**
 * What a mutation answered.
 *
 * @throws ConnectError unavailable, where it answered with neither an object nor a refusal.
 */
export function madeOf<Node>(node: Node | null): Node {
  if (node !== null) return node;
  throw leftOpen(unavailable("the platform does not say what it wrote"));
}

/** Says where the reason of a change was lost. */
export function unkeptOf(commitMessage: string, references: readonly string[]): string[] {
  if (commitMessage === "" || references.length > 0) return [];
  return ["the commit message was not saved: OpenCTI saves it only together with external references"];
}

/** Says where what was written differs from what was asked. */
export function noticesOfNew(asked: Asked, written: Written): string[] {
  const notices: string[] = [];
  const { refs, name } = asked;
  if (name !== undefined && written.representative.main !== name && !written.representative.main.endsWith(name)) {
    notices.push(`the object's name is ${written.representative.main}`);
  }
  if (refs?.confidence !== undefined && written.confidence != null && written.confidence !== refs.confidence) {
    notices.push(confidenceNotice(written.confidence, refs.confidence));
  }
  const markings = namesOf(written);
  if (refs !== undefined && refs.markings.length > markings.length)
    notices.push(`the object's markings are ${markings.join(", ") || "none"}`);
  const labels = labelsOf(written).map((label) => label.toLowerCase());
  const lost = (refs?.labels ?? []).filter((label) => !labels.includes(label.trim().toLowerCase()));
  if (lost.length > 0) notices.push(`OpenCTI did not save the labels ${lost.join(", ")}`);
  return notices;
}
