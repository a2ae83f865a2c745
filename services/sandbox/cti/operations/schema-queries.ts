import { KINDS } from "../kinds.js";
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

/** The filter keys of each kind. */
export const filterKeys = () =>
  KINDS.map((kind) => ({
    entity_type: kind.type,
    filters_schema: Object.entries({
      entity_type: "String",
      created_at: "DateTime",
      confidence: "Int",
      objectLabel: "[String]",
      objectMarking: "[String]",
      ...kind.attributes,
    }).map(([filterKey, type]) => ({
      filterKey,
      filterDefinition: {
        filterKey,
        type: type.replace(/[[\]!]/g, "").toLowerCase(),
        label: filterKey,
        multiple: type.startsWith("["),
        subEntityTypes: [kind.type],
        elementsForFilterValuesSearch: [],
      },
    })),
  }));
