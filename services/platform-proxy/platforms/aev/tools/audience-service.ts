import { Code, ConnectError } from "@connectrpc/connect";
import { AudienceService } from "#proto/aev/v1/audience_service_pb.js";
import { piecesOf } from "../../../../shared/query-text.js";
import { notFound } from "../../../../shared/rpc/errors.js";
import { shorten } from "../../../../shared/tools/shorten.js";
import { unary } from "../../../binding.js";
import { rowsOf } from "../../../lib/answers.js";
import { given } from "../../../lib/fields.js";
import type { Platform } from "../../../platform.js";
import { labelIds, labelNames } from "../labels.js";
import { havingOne, listPage, nameKey, type Order } from "../list.js";
import { oneOf, searchAll } from "../search.js";
import { type TenantScope, tenantOf } from "../tenant.js";

interface UpstreamTeam {
  readonly team_id: string;
  readonly team_name: string;
  readonly team_description: string | null;
  readonly team_tags: readonly string[] | null;
  readonly team_users_number: number;
}

interface UpstreamPlayer {
  readonly user_id: string;
  readonly user_email: string;
  readonly user_firstname: string | null;
  readonly user_lastname: string | null;
  readonly user_organization: string | null;
  readonly user_tags: readonly string[] | null;
}

/** An object as the platform offers it for choice. */
interface UpstreamOption {
  readonly id: string;
  readonly label: string;
}

const TEAMS = { route: "/teams/search", idKey: "team_id" } as const;
const TEAMS_BY_NAME: Order<UpstreamTeam> = {
  sorts: [{ property: "team_name", direction: "asc" }],
  keyOf: (row) => nameKey(row.team_name),
  isOurs: true,
};
const BY_EMAIL: Order<UpstreamPlayer> = {
  sorts: [{ property: "user_email", direction: "asc" }],
  keyOf: (row) => nameKey(row.user_email),
  isOurs: true,
};

/** How the tools of this service are answered. */
export const bindings = [
  unary(AudienceService.method.listTeams, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    const page = await listPage<UpstreamTeam>(
      platform,
      tenant,
      {
        ...TEAMS,
        query: r.query,
        textsOf: (row) => [row.team_name, row.team_description],
        having: havingOne((row) => row.team_tags, await labelIds(platform, tenant, r.labels)),
        order: TEAMS_BY_NAME,
        piece: 200,
      },
      r,
    );
    const names = await labelNames(
      platform,
      tenant,
      page.rows.map((row) => row.team_tags),
    );
    const teams = page.rows.map((row) => ({
      id: row.team_id,
      name: row.team_name,
      description: shorten(row.team_description),
      labels: names(row.team_tags),
      players: row.team_users_number,
    }));
    return { teams, ...page.paging };
  }),

  unary(AudienceService.method.listPlayers, async (r, platform) => {
    const tenant = await tenantOf(platform, r.tenantId);
    if (r.teamId !== undefined) await needTeam(platform, tenant, r.teamId.toLowerCase());
    const page = await listPage<UpstreamPlayer>(
      platform,
      tenant,
      {
        route: "/players/search",
        idKey: "user_id",
        query: r.query,
        // It looks into first and last names one by one.
        told: piecesOf(r.query ?? "")[0]?.split(/\s+/)[0],
        textsOf: (row) => [nameOf(row), row.user_email],
        filters: oneOf("user_teams", r.teamId === undefined ? [] : [r.teamId.toLowerCase()]),
        order: BY_EMAIL,
        piece: 500,
      },
      r,
    );
    const names = await labelNames(
      platform,
      tenant,
      page.rows.map((row) => row.user_tags),
    );
    const organizations = await organizationsOf(platform, tenant, page.rows);
    const players = page.rows.map((row) => ({
      id: row.user_id,
      name: nameOf(row),
      email: row.user_email,
      labels: names(row.user_tags),
      ...(row.user_organization != null && {
        organization: { id: row.user_organization, ...given({ name: organizations.get(row.user_organization) }) },
      }),
    }));
    return { players, ...page.paging };
  }),
];

function nameOf({ user_firstname: first, user_lastname: last }: UpstreamPlayer): string {
  return [first, last].filter(Boolean).join(" ");
}

/** @throws ConnectError not_found: the platform answers for an unknown team as for one without players. */
async function needTeam(platform: Platform, tenant: TenantScope, id: string): Promise<void> {
  const search = { ...TEAMS, sorts: TEAMS_BY_NAME.sorts };
  for await (const { team_id } of searchAll<UpstreamTeam>(platform, tenant, search, 10_000)) {
    if (team_id === id) return;
  }
  throw notFound(`there is no team ${id} in tenant ${tenant.name}`);
}

/**
 * The names of the organizations that players belong to, as far as the caller may see them; asks nothing where none
 * does. They are asked for by id: the platform's search of organizations does not sort by name.
 */
async function organizationsOf(
  platform: Platform,
  tenant: TenantScope,
  rows: readonly UpstreamPlayer[],
): Promise<ReadonlyMap<string, string>> {
  const ids = [...new Set(rows.flatMap(({ user_organization: id }) => id ?? []))];
  if (ids.length === 0) return new Map();
  const request = { verb: "POST", path: tenant.path("/organizations/options"), read: true, body: ids } as const;
  try {
    const named = rowsOf<UpstreamOption>(platform.server, await platform.rest(request), "id");
    return new Map(named.map(({ id, label }) => [id, label]));
  } catch (error) {
    // Who may see players may not see organizations.
    if (error instanceof ConnectError && error.code === Code.PermissionDenied) return new Map();
    throw error;
  }
}
