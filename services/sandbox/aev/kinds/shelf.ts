import { endpointRow, meeting, techniqueRow } from "../views/catalogue.js";
import type { AssetGroup, Endpoint, Finding, Tag, Team, Technique, User, World } from "../world.js";
import type { Entry, Json, Values } from "./kind.js";

/** Where the objects of one kind lie. */
export interface Shelf {
  all(): Entry[];
  /** Of any tenant. */
  get(id: string): Entry | undefined;
  put(entry: Entry): void;
  delete(id: string): boolean;
}

/** The shelf of a kind: the world's own table where other objects refer to it, else its entries. */
export function shelfOf(world: World, path: string): Shelf {
  const shelf = TABLES[path]?.(world);
  if (shelf !== undefined) return shelf;
  const entries = new Map<string, Entry>();
  const own = world.entries.get(path) ?? entries;
  if (own === entries) world.entries.set(path, entries);
  return {
    all: () => [...own.values()],
    get: (id) => own.get(id),
    put: (entry) => own.set(entry.id, entry),
    delete: (id) => own.delete(id),
  };
}

/** Reads the rows of a table as entries, and writes entries as rows. */
function table<Row>(
  rows: Map<string, Row>,
  read: (row: Row) => Entry,
  write?: (entry: Entry, before: Row | undefined) => Row,
): Shelf {
  return {
    all: () => [...rows.values()].map(read),
    get(id) {
      const row = rows.get(id);
      return row === undefined ? undefined : read(row);
    },
    put: (entry) => write !== undefined && rows.set(entry.id, write(entry, rows.get(entry.id))),
    delete: (id) => rows.delete(id),
  };
}

const texts = (value: Json | undefined): string[] => (Array.isArray(value) ? value.map(String) : []);
const text = (value: Json | undefined): string => String(value ?? "");
const orNull = (value: Json | undefined): string | null => (typeof value === "string" ? value : null);

const TABLES: Readonly<Record<string, (world: World) => Shelf>> = {
  tags: ({ tags }) =>
    table<Tag>(
      tags,
      ({ id, tenant, name, color }) => entryOf(id, tenant, 0, { tag_name: name, tag_color: color }),
      ({ id, tenant = "", values }) => ({ id, tenant, name: text(values.tag_name), color: text(values.tag_color) }),
    ),
  asset_groups: (world) =>
    table<AssetGroup>(
      world.assetGroups,
      (group) => groupEntry(world, group),
      ({ id, tenant = "", values, createdAt, updatedAt }) => ({
        id,
        tenant,
        name: text(values.asset_group_name),
        description: orNull(values.asset_group_description),
        dynamicFilter: filterOf(values.asset_group_dynamic_filter),
        assets: texts(values.asset_group_assets),
        tags: texts(values.asset_group_tags),
        createdAt,
        updatedAt,
      }),
    ),
  endpoints: ({ endpoints }) =>
    table<Endpoint>(endpoints, endpointEntry, ({ id, tenant = "", values, createdAt, updatedAt }, before) => ({
      id,
      tenant,
      name: text(values.asset_name),
      description: orNull(values.asset_description),
      hostname: text(values.endpoint_hostname),
      platform: text(values.endpoint_platform),
      arch: text(values.endpoint_arch),
      ips: texts(values.endpoint_ips),
      macs: texts(values.endpoint_mac_addresses).map((mac) => mac.replaceAll(":", "").toLowerCase()),
      tags: texts(values.asset_tags),
      agent: before?.agent,
      reference: orNull(values.asset_external_reference),
      endOfLife: values.endpoint_is_eol === true,
      createdAt,
      updatedAt,
    })),
  findings: (world) =>
    table<Finding>(
      world.findings,
      (finding) => findingEntry(world, finding),
      ({ id, tenant = "", values, createdAt, updatedAt }, before) => ({
        id,
        tenant,
        type: text(values.finding_type),
        field: text(values.finding_field),
        value: text(values.finding_value),
        inject: text(values.finding_inject_id),
        labels: texts(values.finding_labels),
        assets: before?.assets ?? [],
        createdAt,
        updatedAt,
      }),
    ),
  teams: (world) =>
    table<Team>(
      world.teams,
      (team) => teamEntry(world, team),
      ({ id, tenant = "", values, updatedAt }, before) => ({
        id,
        tenant,
        name: text(values.team_name),
        description: orNull(values.team_description),
        organization: orNull(values.team_organization),
        contextual: values.team_contextual === true,
        tags: texts(values.team_tags),
        users: before?.users ?? [],
        updatedAt,
      }),
    ),
  attack_patterns: ({ techniques }) =>
    table<Technique>(techniques, (row) => entryOf(row.id, undefined, row.createdAt, techniqueRow(row) as Values)),
  players: (world) => table<User>(world.users, (user) => playerEntry(world, user)),
};

function entryOf(id: string, tenant: string | undefined, at: number, values: Values, updatedAt = at): Entry {
  return { id, tenant, values, createdAt: at, updatedAt };
}

/** A filter with what its parts are where they are left out. */
function filterOf(given: Json | undefined): Json {
  const { mode = "and", filters = [] } = (given ?? {}) as {
    readonly mode?: Json;
    readonly filters?: readonly Values[];
  };
  return { mode, filters: filters.map((one) => ({ id: null, mode: "and", operator: "eq", ...one })) };
}

function groupEntry({ endpoints }: World, row: AssetGroup): Entry {
  const here = [...endpoints.values()].filter(({ tenant }) => tenant === row.tenant);
  const values = {
    asset_group_name: row.name,
    asset_group_description: row.description,
    asset_group_external_reference: null,
    asset_group_dynamic_filter: row.dynamicFilter as Json,
    asset_group_assets: row.assets,
    asset_group_dynamic_assets: meeting(here, row).map(({ id }) => id),
    asset_group_tags: row.tags,
  };
  return entryOf(row.id, row.tenant, row.createdAt, values, row.updatedAt);
}

function endpointEntry(row: Endpoint): Entry {
  const values = {
    ...(endpointRow(row) as Values),
    asset_type: null,
    asset_description: row.description,
    asset_external_reference: row.reference ?? (row.agent === undefined ? null : `agent of ${row.hostname}`),
    endpoint_hostname: row.hostname,
    endpoint_ips: row.ips,
    endpoint_mac_addresses: row.macs,
    endpoint_is_eol: row.endOfLife ?? false,
    endpoint_seen_ip: null,
  };
  return entryOf(row.id, row.tenant, row.createdAt, values, row.updatedAt);
}

function findingEntry({ injects, simulations }: World, row: Finding): Entry {
  const simulation = injects.get(row.inject)?.simulation ?? null;
  const values = {
    finding_field: row.field,
    finding_type: row.type,
    finding_value: row.value,
    finding_labels: row.labels,
    finding_inject_id: row.inject,
    finding_assets: row.assets,
    finding_simulation: simulation,
    finding_scenario: simulations.get(simulation ?? "")?.scenario ?? null,
  };
  return entryOf(row.id, row.tenant, row.createdAt, values, row.updatedAt);
}

/** The simulations and scenarios that a team is in. */
export function plansOfTeam({ scenarios, simulations }: World, { id: team }: Team) {
  const with_ = (rows: Iterable<{ readonly id: string; readonly teams: readonly string[] }>) =>
    [...rows].filter(({ teams }) => teams.includes(team)).map(({ id }) => id);
  return { team_exercises: with_(simulations.values()), team_scenarios: with_(scenarios.values()) };
}

function teamEntry(world: World, row: Team): Entry {
  const values = {
    team_name: row.name,
    team_description: row.description,
    team_organization: row.organization,
    team_contextual: row.contextual,
    team_tags: row.tags,
    team_users: row.users,
    team_users_number: row.users.length,
    ...plansOfTeam(world, row),
  };
  return entryOf(row.id, row.tenant, row.updatedAt, values);
}

function playerEntry({ teams }: World, user: User): Entry {
  const { id, firstname, lastname, email, tenants, createdAt, organization = null } = user;
  const values = {
    user_firstname: firstname,
    user_lastname: lastname,
    user_email: email,
    user_tags: [],
    user_teams: [...teams.values()].filter(({ users }) => users.includes(id)).map((team) => team.id),
    user_organization: organization,
  };
  return { ...entryOf(id, undefined, createdAt, values), tenants };
}
