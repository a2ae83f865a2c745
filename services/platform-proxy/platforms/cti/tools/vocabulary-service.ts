import { VocabularyService } from "#proto/cti/v1/vocabulary_service_pb.js";
import { holds, piecesOf } from "../../../../shared/query-text.js";
import { invalidArgument } from "../../../../shared/rpc/errors.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { type Binding, unary } from "../../../binding.js";
import type { Me } from "../adapter.js";
import { operation } from "../graphql.js";
import { numberOf } from "../knowledge.js";
import { pageOfAll } from "../lists.js";
import { nodesOf, PAGE, placeOf } from "../paging.js";
import { all, type Filter } from "../resolve.js";

const { listLabels, listMarkings, listVocabularyValues, listKillChainPhases } = VocabularyService.method;

/** Labels by value. */
export const LIST_LABELS = operation(
  `
  query ListLabels($filters: FilterGroup, $first: Int, $after: ID) {
    labels(filters: $filters, first: $first, after: $after, orderBy: value, orderMode: asc) {
      edges {
        node {
          id
          value
        }
      }
      pageInfo {
        ...Page
      }
    }
  }
`,
  [PAGE],
);

/** Marking definitions, all of them. */
export const LIST_MARKINGS = operation(`
  query ListMarkings {
    markingDefinitions(first: 2000, orderBy: definition, orderMode: asc) {
      edges {
        node {
          id
          definition
          definition_type
          x_opencti_order
        }
      }
    }
  }
`);

/** The open vocabularies. */
export const LIST_VOCABULARIES = operation(`
  query ListVocabularies {
    vocabularyCategories {
      key
      description
      entity_types
    }
  }
`);

/** The words of a vocabulary. */
export const LIST_WORDS = operation(`
  query ListWords($category: VocabularyCategory) {
    vocabularies(category: $category, first: 2000) {
      edges {
        node {
          name
          description
          order
        }
      }
    }
  }
`);

/** Kill chain phases, all of them. */
export const LIST_PHASES = operation(`
  query ListPhases {
    killChainPhases(first: 2000, orderBy: phase_name, orderMode: asc) {
      edges {
        node {
          id
          kill_chain_name
          phase_name
          x_opencti_order
        }
      }
    }
  }
`);

/** Ranks are small whole numbers; a missing one is the last. */
const rankKey = (rank: number | null | undefined): string => String(rank ?? 99_999).padStart(6, "0");

/** How the tools of this service are answered. */
export const bindings: readonly Binding[] = [
  unary(listLabels, async (request, platform) => {
    const parts = piecesOf(request.query);
    const holding = parts.map((part): Filter => ({ key: ["value"], values: [part], operator: "contains" }));
    const filters = parts.length === 0 ? undefined : all(...holding);
    const place = placeOf(request, ["labels", parts]);
    const { labels } = await platform.graphql(LIST_LABELS, { filters, first: place.first, after: place.after });
    return { labels: nodesOf(labels).map(({ id, value }) => ({ id, value: value ?? "" })), ...place.next(labels) };
  }),
  unary(listMarkings, async (request, platform) => {
    const { markingDefinitions } = await platform.graphql(LIST_MARKINGS, {});
    const { allowed_marking } = await platform.me<Me>();
    const allowed = new Set((allowed_marking ?? []).map(({ id }) => id));
    const { rows, paging } = pageOfAll(
      request,
      "markings",
      nodesOf(markingDefinitions),
      ({ id, definition_type, x_opencti_order }) => `${definition_type ?? ""} ${rankKey(x_opencti_order)} ${id}`,
    );
    return {
      markings: rows.map(({ id, definition, definition_type, x_opencti_order }) => ({
        id,
        name: definition ?? "",
        kind: definition_type ?? "",
        rank: x_opencti_order,
        allowed: allowed.has(id),
      })),
      ...paging,
    };
  }),
  unary(listVocabularyValues, async (request, platform) => {
    const { vocabulary, query } = request;
    const { vocabularyCategories } = await platform.graphql(LIST_VOCABULARIES, {});
    if (vocabulary === undefined) {
      const some = vocabularyCategories.filter(({ key }) => holds(key, query));
      const { rows, paging } = pageOfAll(request, ["vocabularies", query], some, ({ key }) => key);
      const words = rows.map(({ key, description, entity_types }) => ({
        name: key,
        description: shorten(description),
        types: [...entity_types],
      }));
      return { words, ...paging };
    }
    const category = vocabularyCategories.find(({ key }) => key === vocabulary.trim())?.key;
    if (category === undefined) {
      const known = vocabularyCategories.map(({ key }) => key).sort();
      throw invalidArgument(`vocabulary: ${vocabulary} is not one of ${known.join(", ")}`);
    }
    const { vocabularies } = await platform.graphql(LIST_WORDS, { category });
    const some = nodesOf(vocabularies).filter(({ name }) => holds(name, query));
    const keyOf = ({ order, name }: (typeof some)[number]) => `${rankKey(order ?? 0)} ${name.toLowerCase()} ${name}`;
    const { rows, paging } = pageOfAll(request, [category, query], some, keyOf);
    return { words: rows.map(({ name, description }) => ({ name, description: shorten(description) })), ...paging };
  }),
  unary(listKillChainPhases, async (request, platform) => {
    const { killChainPhases } = await platform.graphql(LIST_PHASES, {});
    const some = nodesOf(killChainPhases).filter(
      ({ kill_chain_name, phase_name }) => holds(kill_chain_name, request.query) || holds(phase_name, request.query),
    );
    const { rows, paging } = pageOfAll(
      request,
      ["phases", request.query],
      some,
      ({ id, kill_chain_name, x_opencti_order }) => `${kill_chain_name} ${rankKey(x_opencti_order)} ${id}`,
    );
    return {
      phases: rows.map(({ id, kill_chain_name, phase_name, x_opencti_order }) => ({
        id,
        killChain: kill_chain_name,
        name: phase_name,
        ...numberOf("rank", x_opencti_order),
      })),
      ...paging,
    };
  }),
];
