import { matchesWildcards } from "../wildcards.js";
import { database, unsupported } from "./errors.js";
import type { Filter } from "./filter-group.js";
import { textScorerOf } from "./search.js";

/** Compares the values that an element has with those of a filter; `all` asks for every one. */
export type Compare = (own: readonly unknown[], all: boolean) => boolean;

/** @throws ApiError for an operator, period or date that the platform refuses. */
export function comparisonOf(operator: string, values: readonly unknown[], filter: Filter): Compare {
  const positive = operator.replace(/^not_/, "");
  const quantified = <T, W>(
    mineOf: (own: readonly unknown[]) => readonly T[],
    wanted: readonly W[],
    matches: (own: T, wanted: W) => boolean,
  ): Compare => {
    return (own, all) => {
      const mine = mineOf(own);
      const one = (value: W) => mine.some((each) => matches(each, value));
      return all ? wanted.every(one) : wanted.some(one);
    };
  };
  // The engine's normaliser: lower case, folded to ASCII. What is wanted is folded once, not for each object.
  const textual = (matches: (own: string, wanted: string) => boolean) =>
    quantified(indexed, values.map(folded), matches);
  const base = (): Compare => {
    switch (positive) {
      case "eq":
      case "only_eq_to":
        return textual((own, wanted) => own === wanted);
      case "nil":
        return (own) => own.length === 0;
      case "contains":
        return textual((own, wanted) => own.includes(wanted));
      case "starts_with":
        return textual((own, wanted) => own.startsWith(wanted));
      case "ends_with":
        return textual((own, wanted) => own.endsWith(wanted));
      case "search":
        return quantified(
          (own) => own,
          values.map((value) => textScorerOf(String(value).toLowerCase())),
          (own, scoreOf) => scoreOf(String(own)) > 0,
        );
      case "match":
        return quantified(
          indexed,
          values.map((value) => folded(value).split(/\s+/)),
          (own, words) => words.some((word) => own.includes(word)),
        );
      case "wildcard":
        return textual((own, wanted) => matchesWildcards(own, wanted, { any: "*" }));
      case "gt":
      case "gte":
      case "lt":
      case "lte":
        return ordered(positive, values);
      case "within":
        return within(values, filter);
      default:
        throw unsupported("Unsupported operator", { filter });
    }
  };
  const compare = base();
  return operator.startsWith("not_") ? (own, all) => !compare(own, all) : compare;
}

function ordered(operator: string, values: readonly unknown[]): Compare {
  const limit = limitOf(values[0]);
  const holds = (own: number) =>
    operator === "gt"
      ? own > limit
      : operator === "gte"
        ? own >= limit
        : operator === "lt"
          ? own < limit
          : own <= limit;
  return (own) => own.some((value) => holds(typeof value === "string" ? Date.parse(value) : Number(value)));
}

function limitOf(value: unknown): number {
  const text = String(value);
  const number = Number(text);
  if (text !== "" && !Number.isNaN(number)) return number;
  const at = relative(text) ?? Date.parse(text);
  if (Number.isNaN(at)) throw database("Fail to execute engine pagination");
  return at;
}

const UNITS: Readonly<Record<string, number>> = {
  m: 60e3,
  h: 3600e3,
  d: 86400e3,
  w: 604800e3,
  M: 2592000e3,
  y: 31536000e3,
};

function relative(text: string): number | undefined {
  const found = /^now(?:-(\d+)([mhdwMy]))?(?:\/[mhdwMy])?$/.exec(text);
  if (found === null) return undefined;
  return Date.now() - Number(found[1] ?? 0) * (UNITS[found[2] ?? "d"] as number);
}

function within(values: readonly unknown[], filter: Filter): Compare {
  if (values.length !== 2) throw unsupported('A filter with "within" operator must have 2 values', { filter });
  const bounds = values.map((value) => {
    const text = String(value);
    const exact = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text) ? Date.parse(text) : relative(text);
    if (exact === undefined) {
      throw unsupported(
        'The values for filter with "within" operator are not valid: you should provide a datetime or a relative date expression',
        { filter },
      );
    }
    return exact;
  });
  return (own) =>
    own.some((value) => Date.parse(String(value)) >= bounds[0]! && Date.parse(String(value)) <= bounds[1]!);
}

/** Longer values are not indexed as a whole. */
const MOST_INDEXED = 512;

const indexed = (own: readonly unknown[]): string[] =>
  own.filter((value) => String(value).length <= MOST_INDEXED).map(folded);

const folded = (value: unknown): string => String(value).toLowerCase().normalize("NFD").replace(/\p{M}/gu, "");
