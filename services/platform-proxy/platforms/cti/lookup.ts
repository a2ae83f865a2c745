import { isIPv4 } from "node:net";
import { SearchService } from "#proto/cti/v1/search_service_pb.js";
import { invalidArgument } from "../../../shared/rpc/errors.js";
import { type Binding, unary } from "../../binding.js";
import type { Platform } from "../../platform.js";
import { operation } from "./graphql.js";
import { REF, refOf } from "./knowledge.js";
import { INDICATOR, indicatorRowOf, OBSERVABLE, observableOf } from "./observables.js";
import { nodesOf } from "./paging.js";
import { any } from "./resolve.js";
import { OTHER_VALUES, valuesOf } from "./search.js";
import { spellingsOf } from "./spellings.js";
import { hashAlgorithmOf, searchTextOf } from "./text.js";

const { lookupIoc } = SearchService.method;

/** Observables of a value, with the indicators based on them and what holds them; and the indicators that name it. */
export const LOOKUP = operation(
  `
  query Lookup($filters: FilterGroup, $naming: FilterGroup) {
    indicators(first: 50, filters: $naming, orderBy: created_at, orderMode: desc) {
      edges {
        node {
          ...Ind
        }
      }
    }
    stixCyberObservables(first: 10, filters: $filters, orderBy: created_at, orderMode: desc) {
      edges {
        node {
          ...Obs
          indicators(first: 20) {
            edges {
              node {
                ...Ind
              }
            }
          }
          containers(first: 20) {
            edges {
              node {
                ...Ref
              }
            }
          }
        }
      }
    }
  }
`,
  [OBSERVABLE, INDICATOR, REF],
);

/** Observables in whose values some text is. */
export const CONTAINING = operation(
  `
  query Containing($search: String, $filters: FilterGroup) {
    stixCyberObservables(first: 100, search: $search, filters: $filters, orderBy: created_at, orderMode: desc) {
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

/** Longer values are not indexed as a whole. */
const MOST_INDEXED = 512;
const MOST_INDICATORS = 20;
const MOST_CONTAINING = 5;

/** Whether an indicator is of a value: by its name, or by its pattern, where the value stands by itself, quotes escaped or not. */
function covers(name: string, pattern: string, value: string): boolean {
  const wanted = value.toLowerCase();
  if (name.trim().toLowerCase() === wanted) return true;
  const text = pattern.toLowerCase();
  return [wanted, wanted.replace(/[\\']/g, "\\$&")].some((one) => standsIn(text, one));
}

/** Where a part begins in a text. Nothing is part of a text in this sense: it would be found at its end without end. */
function* placesOf(part: string, text: string): Generator<number, void> {
  if (part === "") return;
  for (let at = text.indexOf(part); at >= 0; at = text.indexOf(part, at + 1)) yield at;
}

function standsIn(text: string, part: string): boolean {
  for (const at of placesOf(part, text)) {
    const [before = "", after = ""] = [text[at - 1], text[at + part.length]];
    if (!GOES_ON.test(before) && !GOES_ON.test(after)) return true;
  }
  return false;
}

/** The observables with a longer value that a value is a part of. */
async function readContaining(platform: Platform, value: string) {
  const { stixCyberObservables } = await platform.graphql(CONTAINING, valuesOf(value, undefined));
  const found = nodesOf(stixCyberObservables).map(refOf);
  return found.filter(({ name }) => isPartOf(name, value)).slice(0, MOST_CONTAINING);
}

/** Whether a value stands by itself in a longer one, as an address or a domain does in a URL or below another domain. */
function isPartOf(longer: string, value: string): boolean {
  const [text, part] = [longer.toLowerCase(), value.toLowerCase()];
  const before = isIPv4(part) ? AMONG_NUMBERS : WORD;
  if (text === part) return false;
  for (const at of placesOf(part, text)) {
    if (!before.test(text[at - 1] ?? "") && !GOES_FURTHER.test(text.slice(at + part.length, at + part.length + 2)))
      return true;
  }
  return false;
}

const WORD = /[\p{L}\p{N}_-]/u;
/** What stands before an address that is the end of another. */
const AMONG_NUMBERS = /[\p{L}\p{N}_.-]/u;
/** What makes another name of a name: letters, or a full stop that does not end it. */
const GOES_FURTHER = /^(?:[\p{L}\p{N}_-]|\.[\p{L}\p{N}])/u;

/** What an address, domain, URL or hash goes on with. */
const GOES_ON = /[\p{L}\p{N}._:/@%?&#-]/u;

/** How a value is looked up. */
export const lookupBindings: readonly Binding[] = [
  unary(lookupIoc, async (request, platform) => {
    const spellings = spellingsOf(request.value);
    const [value = ""] = spellings;
    if (value === "") throw invalidArgument("value: must not be blank");
    const algorithm = hashAlgorithmOf(value);
    const filters = any(
      { key: ["value"], values: spellings },
      { key: ["name", ...OTHER_VALUES], values: spellings },
      ...(algorithm === undefined ? [] : [{ key: [`hashes.${algorithm}`], values: [value] }]),
      // What is longer is not found as a whole.
      ...(value.length <= MOST_INDEXED
        ? []
        : [{ key: ["value"], values: [`"${value}"`], operator: "search" } as const]),
    );
    const naming = any(
      { key: ["name"], values: spellings },
      { key: ["pattern"], values: spellings.map((one) => searchTextOf(one) ?? one), operator: "search" },
    );
    const { stixCyberObservables, indicators } = await platform.graphql(LOOKUP, { filters, naming });
    const matches = nodesOf(stixCyberObservables).map((node) => ({
      ...observableOf(node),
      indicators: nodesOf(node.indicators).map(indicatorRowOf),
      containers: nodesOf(node.containers).map(refOf),
    }));
    const told = new Set(matches.flatMap((match) => match.indicators.map(({ id }) => id)));
    const others = nodesOf(indicators).filter(
      ({ id, name, pattern }) => !told.has(id) && spellings.some((one) => covers(name, pattern ?? "", one)),
    );
    return {
      value,
      known: matches.length + others.length > 0,
      matches,
      indicators: others.slice(0, MOST_INDICATORS).map(indicatorRowOf),
      containedIn: matches.length > 0 ? [] : await readContaining(platform, value),
    };
  }),
];
