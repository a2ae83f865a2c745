import { accident } from "../errors.js";
import { KINDS } from "../kinds.js";
import { labelOf } from "../labels.js";
import { OBSERVABLE_KINDS } from "../observables.js";
import { RELATION_TYPES } from "../relations.js";
import { VOCABULARIES } from "./vocabularies.js";
import { statusesOf } from "./workflows.js";

/** Types under a type, or all, in their exact spelling. */
export function subTypes({ type, search }: { readonly type?: string | null; readonly search?: string | null }) {
  const all: readonly { readonly type: string; readonly above: readonly string[] }[] = [
    ...KINDS.map((kind) => ({ type: kind.type, above: ["Stix-Domain-Object", ...kind.parents] })),
    ...OBSERVABLE_KINDS.map((kind) => ({ type: kind.type, above: ["Stix-Cyber-Observable"] })),
    ...RELATION_TYPES.map((name) => ({ type: name, above: ["stix-core-relationship"] })),
  ];
  if (type != null && !all.some(({ above }) => above.includes(type)))
    throw accident("Cannot read properties of undefined (reading 'keys')");
  const wanted = all
    .filter(
      (one) =>
        (type == null || one.above.includes(type)) &&
        (search == null || one.type.toLowerCase().includes(search.toLowerCase())),
    )
    .map((one) => one.type)
    .sort();
  return {
    edges: wanted.map((name) => ({ cursor: "", node: { id: name, label: name, statuses: statusesOf(name) } })),
    pageInfo: {
      startCursor: "",
      endCursor: "",
      hasNextPage: false,
      hasPreviousPage: false,
      globalCount: wanted.length,
    },
  };
}

/** One type of objects, with the states of its workflow. */
export const subType = ({ id }: { readonly id: string }) => ({ id, label: id, statuses: statusesOf(id) });

const definitionOf = ({ category, types, fields }: (typeof VOCABULARIES)[number]) => ({
  key: category,
  description: null,
  entity_types: types,
  fields,
});

/** The open vocabularies, and what takes their words. */
export const vocabularyCategories = () => VOCABULARIES.map(definitionOf);

/** The words of open vocabularies. */
export function vocabularies({
  category,
  search,
}: {
  readonly category?: string | null;
  readonly search?: string | null;
}) {
  const rows = VOCABULARIES.flatMap((one) =>
    one.words.map((name, at) => ({
      id: `${one.category}-${name}`,
      entity_type: "Vocabulary",
      name,
      description: null,
      order: at,
      category: definitionOf(one),
    })),
  );
  const wanted = rows.filter(
    (row) =>
      (category == null || row.category.key === category) &&
      (search == null || row.name.includes(search.toLowerCase())),
  );
  return {
    edges: wanted.map((node) => ({ cursor: "", node })),
    pageInfo: {
      startCursor: "",
      endCursor: "",
      hasNextPage: false,
      hasPreviousPage: false,
      globalCount: wanted.length,
    },
  };
}

const COMMON: Readonly<Record<string, string>> = {
  entity_type: "String",
  created_at: "DateTime",
  updated_at: "DateTime",
  createdBy: "id",
  objectLabel: "[id]",
  objectMarking: "[id]",
};

const ATTRIBUTES: readonly (readonly [type: string, attributes: Readonly<Record<string, string>>])[] = [
  ...KINDS.map(({ type, attributes }) => [type, { ...COMMON, confidence: "Int", ...attributes }] as const),
  ...OBSERVABLE_KINDS.map(
    ({ type, attributes }) =>
      [type, { ...COMMON, x_opencti_score: "Int", x_opencti_description: "String", ...attributes }] as const,
  ),
];

/** The kinds of values by the types that the schema gives them; the long texts are a kind of their own. */
const KIND_OF: Readonly<Record<string, string>> = {
  String: "string",
  Int: "integer",
  Float: "float",
  Boolean: "boolean",
  DateTime: "date",
  id: "id",
  KillChainPhase: "id",
  HashInput: "object",
};
const TEXTS = ["description", "x_opencti_description", "content", "explanation", "body"];

function keyOf(entityType: string, filterKey: string, type: string) {
  const bare = type.replace(/[[\]!]/g, "");
  const kind = Object.hasOwn(VOCABULARIES, filterKey) ? "vocabulary" : (KIND_OF[bare] ?? "string");
  return {
    filterKey,
    filterDefinition: {
      filterKey,
      type: TEXTS.includes(filterKey) ? "text" : kind,
      label: labelOf(filterKey),
      multiple: type.startsWith("["),
      subEntityTypes: [entityType],
      elementsForFilterValuesSearch: [],
    },
  };
}

/** The filter keys of each type, and of all of them together. */
export const filterKeys = () =>
  [...ATTRIBUTES, ["Stix-Core-Object", Object.assign({}, ...ATTRIBUTES.map(([, own]) => own))] as const].map(
    ([type, attributes]) => ({
      entity_type: type,
      filters_schema: Object.entries(attributes as Record<string, string>).map(([key, value]) =>
        keyOf(type, key, value),
      ),
    }),
  );
