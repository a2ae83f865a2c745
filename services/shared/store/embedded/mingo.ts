import { Context } from "mingo/core";
import * as projection from "mingo/operators/projection";
import * as query from "mingo/operators/query";
import { Query } from "mingo/query";
import type { Document } from "mongodb";

/**
 * What filters, projections and updates need of mingo, and nothing else: a query
 * copies the tables of its operators, and those of all operators are ten times
 * as large. Aggregation expressions ($expr, $where) are refused before.
 */
export const MINGO = { context: Context.init({ query: { ...query, $in, $nin }, projection }), scriptEnabled: false };

/** Compiles a filter. */
export function queryOf(filter: Document): Query {
  return new Query(filter, MINGO);
}

// mingo makes a table of all the values anew for each document; a caller's
// keys and agents are a thousand.

function $in(...[path, values, options]: Parameters<typeof query.$in>): ReturnType<typeof query.$in> {
  if (path.includes(".") || !Array.isArray(values) || !values.every((value) => typeof value === "string"))
    return query.$in(path, values, options);
  const wanted: ReadonlySet<unknown> = new Set(values);
  return (document) => {
    const value: unknown = (document as Document)[path];
    return Array.isArray(value) ? value.some((element) => wanted.has(element)) : wanted.has(value);
  };
}

function $nin(...[path, values, options]: Parameters<typeof query.$nin>): ReturnType<typeof query.$nin> {
  const isIn = $in(path, values, options);
  return (document) => !isIn(document);
}
