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
export const MINGO = { context: Context.init({ query, projection }), scriptEnabled: false };

/** Compiles a filter. */
export function queryOf(filter: Document): Query {
  return new Query(filter, MINGO);
}
