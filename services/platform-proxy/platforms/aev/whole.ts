import { notFound } from "../../../shared/rpc/errors.js";
import { rowsOf } from "../../lib/answers.js";
import type { Platform } from "../../platform.js";
import { memberOf, SCENARIO, SIMULATION } from "./member.js";
import { searchAll } from "./search.js";
import type { TenantScope } from "./tenant.js";

/** A kind of object that the platform lists as a whole. */
export interface Whole {
  readonly noun: string;
  readonly route: string;
  readonly idKey: string;
}

/** Media channels. */
export const CHANNEL: Whole = { noun: "channel", route: "/channels", idKey: "channel_id" };
/** Challenges, which the platform gives by no id. */
export const CHALLENGE: Whole = { noun: "challenge", route: "/challenges", idKey: "challenge_id" };
/** Templates of lessons learned, which the platform gives by no id. */
export const LESSONS_TEMPLATE: Whole = {
  noun: "lessons template",
  route: "/lessons_templates",
  idKey: "lessonstemplate_id",
};

/** All objects of a kind in a tenant. */
export async function wholeOf<Row>(
  platform: Platform,
  tenant: TenantScope,
  { route, idKey }: Pick<Whole, "route" | "idKey">,
): Promise<readonly Row[]> {
  return rowsOf<Row>(platform.server, await platform.rest({ verb: "GET", path: tenant.path(route) }), idKey);
}

/**
 * One object of a kind, out of the list of those of the tenant: by its id alone
 * the platform would tell and change those of others too.
 *
 * @throws ConnectError not_found, or permission_denied where the caller may not read them.
 */
export async function listedOf<Row>(platform: Platform, tenant: TenantScope, kind: Whole, id: string): Promise<Row> {
  const rows = await wholeOf<Record<string, unknown>>(platform, tenant, kind);
  const found = rows.find((row) => row[kind.idKey] === id.toLowerCase());
  if (found === undefined) throw notFound(`there is no ${kind.noun} ${id} in tenant ${tenant.name}`);
  return found as Row;
}

/** What lies below a scenario or a simulation is found through it. */
export interface Plan {
  /** The route of the plan itself, such as /scenarios/{id}. */
  readonly route: string;
  readonly noun: "scenario" | "simulation";
  readonly id: string;
}

/**
 * The scenario or simulation that a request names: one that there is in the
 * tenant. The platform answers for an unknown one as for an empty one.
 *
 * @throws ConnectError not_found, or permission_denied where the caller may not read it.
 */
export async function planOf(
  platform: Platform,
  tenant: TenantScope,
  parent: { readonly case?: "scenarioId" | "simulationId" | undefined; readonly value?: string | undefined },
): Promise<Plan> {
  if (parent.case === "simulationId") {
    const { exercise_id: id } = await memberOf(platform, tenant, SIMULATION, parent.value as string);
    return { route: `/exercises/${id}`, noun: "simulation", id };
  }
  const { scenario_id: id } = await memberOf(platform, tenant, SCENARIO, parent.value as string);
  return { route: `/scenarios/${id}`, noun: "scenario", id };
}

interface UpstreamDocumentName {
  readonly document_id: string;
  readonly document_name: string;
}

/** The most documents that names are looked up among. */
const MAX_DOCUMENTS = 10_000;

/**
 * The names of documents by their ids, of those that the caller may see.
 *
 * @throws ConnectError permission_denied where that is none.
 */
export async function documentNames(
  platform: Platform,
  tenant: TenantScope,
  ids: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  if (ids.length === 0) return found;
  const search = {
    route: "/documents/search",
    idKey: "document_id",
    sorts: [{ property: "document_name", direction: "asc" }],
  } as const;
  for await (const row of searchAll<UpstreamDocumentName>(platform, tenant, search, MAX_DOCUMENTS)) {
    if (ids.includes(row.document_id)) found.set(row.document_id, row.document_name);
    if (found.size === ids.length) break;
  }
  return found;
}

/** The ids of documents to attach. @throws ConnectError not_found: the platform drops unknown ones without a word. */
export async function documentIds(
  platform: Platform,
  tenant: TenantScope,
  given: readonly string[],
): Promise<string[]> {
  const ids = [...new Set(given.map((id) => id.toLowerCase()))];
  const names = await documentNames(platform, tenant, ids);
  const unknown = ids.filter((id) => !names.has(id));
  if (unknown.length > 0) {
    throw notFound(`document_ids: there is no document ${unknown.join(", ")} in tenant ${tenant.name}`);
  }
  return ids;
}
