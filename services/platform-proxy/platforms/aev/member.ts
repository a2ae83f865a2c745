import { Code, ConnectError } from "@connectrpc/connect";
import { notFound, unavailable } from "../../../shared/rpc/errors.js";
import { objectOf } from "../../lib/answers.js";
import type { Platform } from "../../platform.js";
import { type Filter, isAscii, isTruthWord, oneOf, searchAll } from "./search.js";
import type { TenantScope } from "./tenant.js";
import type { UpstreamScenario, UpstreamSimulation } from "./upstream.js";

/** A kind of object that is read by its id. */
export interface Kind<Row> {
  readonly noun: string;
  /** The collection's route; `/{id}` and `/search` lie below it. */
  readonly route: string;
  readonly idKey: string;
  readonly sortKey: string;
  /** Conditions that the object itself meets and few others do. */
  readonly filters: (row: Row) => Filter[];
  /** A text that the platform finds the object by, where it filters by nothing. */
  readonly text?: (row: Row) => string;
}

/** Scenarios. */
export const SCENARIO: Kind<UpstreamScenario> = {
  noun: "scenario",
  route: "/scenarios",
  idKey: "scenario_id",
  sortKey: "scenario_updated_at",
  filters: (row) => named("scenario_name", row.scenario_name),
};

/** Simulations, which are exercises on the platform. */
export const SIMULATION: Kind<UpstreamSimulation> = {
  noun: "simulation",
  route: "/exercises",
  idKey: "exercise_id",
  sortKey: "exercise_updated_at",
  filters: (row) => [
    ...named("exercise_name", row.exercise_name),
    ...(row.exercise_scenario == null
      ? []
      : [{ key: "exercise_scenario", operator: "eq" as const, values: [row.exercise_scenario] }]),
    ...aroundStart(row.exercise_start_date),
  ],
};

const MAX_NAMESAKES = 5_000;

/**
 * Reads an object by its id, and confirms that it lies in the tenant before
 * anything is told or done.
 *
 * That a call stays inside the tenant named is our own promise, so it is checked
 * here and not left to the platform: the object must come up in a search inside
 * the tenant. One of another tenant and one that does not exist get the same
 * answer. What only a search tells of it is told too.
 *
 * @throws ConnectError not_found, or permission_denied where the caller may not read it.
 */
export async function memberOf<Row>(
  platform: Platform,
  tenant: TenantScope,
  kind: Kind<Row>,
  id: string,
): Promise<Row> {
  const row = await readById<Row>(platform, tenant, kind, id);
  if (row !== undefined) {
    const search = {
      route: `${kind.route}/search`,
      idKey: kind.idKey,
      query: kind.text === undefined ? undefined : plainest(kind.text(row)),
      filters: kind.filters(row),
      sorts: [{ property: kind.sortKey, direction: "desc" }],
    } as const;
    let seen = 0;
    for await (const candidate of searchAll<Record<string, unknown>>(platform, tenant, search, MAX_NAMESAKES)) {
      if (candidate[kind.idKey] === id.toLowerCase()) return { ...candidate, ...row };
      seen++;
    }
    if (seen >= MAX_NAMESAKES) {
      throw unavailable(
        `more than ${MAX_NAMESAKES} objects have the same name as this ${kind.noun}, so its tenant cannot be found; rename it in OpenAEV to a unique name`,
      );
    }
  }
  throw notFound(`there is no ${kind.noun} ${id} in tenant ${tenant.name}`);
}

/** Reads an object by its id; undefined where there is none. Tells nothing of its tenant: see memberOf. */
export async function readById<Row>(
  platform: Platform,
  tenant: TenantScope,
  { route, idKey }: Kind<Row>,
  id: string,
): Promise<Row | undefined> {
  try {
    const row = await platform.rest<Row>({ verb: "GET", path: tenant.path(`${route}/${id.toLowerCase()}`) });
    return objectOf(platform.server, row, idKey);
  } catch (error) {
    if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
    throw error;
  }
}

/**
 * Conditions that an object of a name meets: the platform folds the case of
 * other letters than ASCII's one way in a filter and another in a name.
 */
export function named(key: string, name: string): Filter[] {
  if (isAscii(name)) return [{ key, operator: isTruthWord([name]) ? "contains" : "eq", values: [name] }];
  const longest = plainest(name);
  return oneOf(key, longest === undefined ? [] : [longest], "contains");
}

/** The longest part of a text that the platform looks for as people do. */
export function plainest(text: string): string | undefined {
  return (text.match(/[A-Za-z0-9]+/g) ?? []).sort((a, b) => b.length - a.length)[0];
}

/** Simulations of one scenario bear its name; their starts tell them apart. */
function aroundStart(start: string | null | undefined): Filter[] {
  const ms = start == null ? Number.NaN : Date.parse(start);
  if (Number.isNaN(ms)) return [];
  const at = (operator: "gt" | "lt", offset: number): Filter => ({
    key: "exercise_start_date",
    operator,
    values: [new Date(ms + offset).toISOString()],
  });
  return [at("gt", -1_000), at("lt", 1_000)];
}
