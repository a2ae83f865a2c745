import { Code, ConnectError } from "@connectrpc/connect";
import { notFound } from "../../../shared/rpc/errors.js";
import { rowsOf } from "../../lib/answers.js";
import type { Platform } from "../../platform.js";
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

/**
 * Makes sure that an object is there, as far as the caller may look: who holds a grant on a scenario may use
 * channels and templates in it without being allowed to list them, and the platform refuses those that are not there.
 *
 * @throws ConnectError not_found.
 */
export async function needListed(platform: Platform, tenant: TenantScope, kind: Whole, id: string): Promise<void> {
  try {
    await listedOf(platform, tenant, kind, id);
  } catch (error) {
    if (!(error instanceof ConnectError) || error.code !== Code.PermissionDenied) throw error;
  }
}
