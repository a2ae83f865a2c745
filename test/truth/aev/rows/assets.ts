import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import type { Json } from "../platform.js";
import { inTenant, personOf, refuses, type Stage, seenBy } from "../stage.js";
import { FIRST } from "../world.js";
import { SEERS } from "./lists.js";
import { ask, found, type Life, listTruth, truthsOf, WRITERS } from "./lives.js";

const told = (value: unknown): unknown => value || undefined;
const sorted = (list: unknown): string[] => [...((list ?? []) as string[])].sort();
const lower = (text: string): string => text.toLowerCase();
const byName = (key: string) => (row: Json) => lower(row[key]);
/** The label of the tenant that somebody works in. */
const labelOf = ({ world }: Stage, tenant: string): string => world.ids[tenant === FIRST ? "red" : "otherTag"]!;

const ENDPOINT: Life = {
  noun: "endpoint",
  place: () => ({ route: "/endpoints" }),
  idKey: "asset_id",
  argument: "endpoint_id",
  member: "endpoint",
  async all(stage, tenant) {
    const ids = (await found(stage, tenant, "/endpoints/search", "asset_id")).map((row) => row.asset_id);
    const rows: Json[] = await ask(stage, tenant, "POST", "/endpoints/find", ids);
    return rows.map((row) => ({ ...row, asset_tags: sorted(row.asset_tags) }));
  },
  async make(stage, tenant, name) {
    const body = {
      asset_name: name,
      asset_description: "Kept",
      // There may be one of a reference.
      asset_external_reference: `ref ${name} ${Math.random()}`,
      asset_tags: [labelOf(stage, tenant)],
      endpoint_hostname: "kept-host",
      endpoint_platform: "Linux",
      endpoint_arch: "x86_64",
      endpoint_ips: ["10.79.1.1", "10.79.1.2"],
      endpoint_mac_addresses: ["02:00:00:00:00:AB"],
      endpoint_is_eol: true,
    };
    return (await ask(stage, tenant, "POST", "/endpoints/agentless", body)).asset_id;
  },
  is(one, direct) {
    expect(one).toMatchObject({ id: direct.asset_id, name: direct.asset_name, arch: direct.endpoint_arch });
    expect(one.platform).toBe(lower(direct.endpoint_platform));
    expect(one.description).toBe(told(direct.asset_description));
    expect(one.hostname).toBe(told(direct.endpoint_hostname));
    expect(sorted(one.ips)).toEqual(sorted(direct.endpoint_ips));
    expect(sorted(one.mac_addresses)).toEqual(sorted(direct.endpoint_mac_addresses));
    expect(((one.labels ?? []) as string[]).length).toBe((direct.asset_tags ?? []).length);
    expect(one.end_of_life ?? false).toBe(direct.endpoint_is_eol);
  },
  read: { tool: "get_endpoint" },
  create: {
    tool: "create_endpoint",
    args: (stage, name, tenant) => ({
      name,
      hostname: "made",
      platform: "macos",
      arch: "arm64",
      ips: ["10.79.2.1"],
      mac_addresses: ["02:00:00:00:00:AC"],
      labels: [labelOf(stage, tenant)],
    }),
  },
  update: {
    tool: "update_endpoint",
    changes: (stage, tenant) => [
      [{ name: `Renamed ${stage.world.run}` }, ["asset_name"]],
      [{ description: "" }, ["asset_description"]],
      [{ clear_labels: true }, ["asset_tags"]],
      [{ labels: [labelOf(stage, tenant)] }, ["asset_tags"]],
      [{ ips: ["10.79.1.3"] }, ["endpoint_ips"]],
      [{ mac_addresses: ["02-00-00-00-00-AD"] }, ["endpoint_mac_addresses"]],
      [{ platform: "windows", arch: "arm64" }, ["endpoint_platform", "endpoint_arch"]],
      [{ end_of_life: false }, ["endpoint_is_eol"]],
    ],
  },
  remove: { tool: "delete_endpoint" },
  right: "_ASSETS",
  ignored: ["asset_updated_at"],
};

const GROUP: Life = {
  noun: "asset group",
  place: () => ({ route: "/asset_groups" }),
  idKey: "asset_group_id",
  argument: "asset_group_id",
  member: "asset_group",
  async all(stage, tenant) {
    const rows = await found(stage, tenant, "/asset_groups/search", "asset_group_id");
    const read = await Promise.all(rows.map((row) => ask(stage, tenant, "GET", `/asset_groups/${row.asset_group_id}`)));
    return read.map((one) => ({
      ...one,
      asset_group_assets: sorted(one.asset_group_assets),
      asset_group_dynamic_assets: sorted(one.asset_group_dynamic_assets),
      asset_group_tags: sorted(one.asset_group_tags),
    }));
  },
  async make(stage, tenant, name) {
    const filter = { key: "asset_name", operator: "contains", values: [stage.world.run], mode: "or" };
    const body = {
      asset_group_name: name,
      asset_group_description: "Kept",
      asset_group_tags: [labelOf(stage, tenant)],
      asset_group_dynamic_filter: { mode: "or", filters: [filter] },
    };
    const { asset_group_id: id } = await ask(stage, tenant, "POST", "/asset_groups", body);
    const machine = stage.world.ids[tenant === FIRST ? "machine0" : "otherMachine"];
    await ask(stage, tenant, "PUT", `/asset_groups/${id}/assets`, { asset_group_assets: [machine] });
    return id;
  },
  is(one, direct) {
    expect(one).toMatchObject({ id: direct.asset_group_id, name: direct.asset_group_name });
    expect(one.description).toBe(told(direct.asset_group_description));
    expect(one.listed_endpoints).toBe(direct.asset_group_assets.length);
    expect(one.matching_endpoints).toBe(direct.asset_group_dynamic_assets.length);
    expect(((one.labels ?? []) as string[]).length).toBe(direct.asset_group_tags.length);
    expect(((one.conditions ?? []) as Json[]).length).toBe(direct.asset_group_dynamic_filter.filters.length);
    expect(one.match_any ?? false).toBe(direct.asset_group_dynamic_filter.mode === "or");
  },
  read: { tool: "get_asset_group" },
  create: {
    tool: "create_asset_group",
    args: (stage, name, tenant) => ({
      name,
      description: "New",
      labels: [labelOf(stage, tenant)],
      conditions: [
        { field: "name", operator: "contains", values: [stage.world.run] },
        { field: "platform", operator: "eq", values: ["Linux"] },
      ],
    }),
  },
  update: {
    tool: "update_asset_group",
    changes: (stage) => [
      [{ name: `Renamed group ${stage.world.run}` }, ["asset_group_name"]],
      [{ description: "" }, ["asset_group_description"]],
      [{ clear_labels: true }, ["asset_group_tags"]],
      [{ match_any: false }, ["asset_group_dynamic_filter"]],
      [{ clear_conditions: true }, ["asset_group_dynamic_filter", "asset_group_dynamic_assets"]],
    ],
  },
  remove: { tool: "delete_asset_group" },
  right: "_ASSETS",
  ignored: ["asset_group_updated_at"],
};

/** Tools of endpoints and asset groups. */
export const assetTruths: readonly Truth<Stage>[] = [
  ...truthsOf(ENDPOINT),
  ...truthsOf(GROUP),
  listTruth("list_asset_groups", [
    {
      rows: "asset_groups",
      idKey: "asset_group_id",
      direct: (stage, person) => seenBy(stage, person).mayList("assetGroup"),
      key: byName("asset_group_name"),
      is(row, direct) {
        expect(row).toMatchObject({
          name: direct.asset_group_name,
          listed_endpoints: direct.asset_group_assets.length,
        });
        expect(((row.labels ?? []) as string[]).length).toBe(direct.asset_group_tags.length);
      },
      right: "ACCESS_ASSETS",
    },
    {
      rows: "asset_groups",
      idKey: "asset_group_id",
      direct: (stage, person) => seenBy(stage, person).mayList("assetGroup"),
      args: ({ world }) => ({ query: world.run }),
      only: (row, { world }) => row.asset_group_name.includes(world.run),
      key: byName("asset_group_name"),
      is: (row, direct) => expect(row.name).toBe(direct.asset_group_name),
      right: "ACCESS_ASSETS",
    },
  ]),
  {
    tool: "set_asset_group_assets",
    cases: [
      {
        about: "lists those endpoints and no others, and says what came and went",
        as: WRITERS,
        async prove(stage, person) {
          const tenant = stage.world.tenantOf(person);
          const id = await GROUP.make(stage, tenant, `Members for ${person} ${stage.world.run}`);
          stage.world.removeLater(tenant, `/asset_groups/${id}`);
          const [first, second] = await found(stage, tenant, "/endpoints/search", "asset_id");
          const had: string[] = (await ask(stage, tenant, "GET", `/asset_groups/${id}`)).asset_group_assets;
          const endpoint_ids = [...new Set([first.asset_id, second.asset_id])];
          const args = { ...inTenant(stage, person), asset_group_id: id };
          const said = await personOf(stage, person).get<Json>("set_asset_group_assets", { ...args, endpoint_ids });
          const now = await ask(stage, tenant, "GET", `/asset_groups/${id}`);
          expect(sorted(now.asset_group_assets)).toEqual(sorted(endpoint_ids));
          expect(said.added ?? 0).toBe(endpoint_ids.filter((one) => !had.includes(one)).length);
          expect(said.removed ?? 0).toBe(had.filter((one) => !endpoint_ids.includes(one)).length);
          GROUP.is(said.asset_group as Row, now);
          const foreign = stage.world.ids[tenant === FIRST ? "otherMachine" : "machine0"]!;
          await refuses(
            stage,
            person,
            "set_asset_group_assets",
            { ...args, endpoint_ids: [foreign] },
            /there is no endpoint/,
          );
          const { asset_group_assets: still } = await ask(stage, tenant, "GET", `/asset_groups/${id}`);
          expect(sorted(still)).toEqual(sorted(now.asset_group_assets));
          await personOf(stage, person).get("set_asset_group_assets", { ...args, clear_endpoints: true });
          expect((await ask(stage, tenant, "GET", `/asset_groups/${id}`)).asset_group_assets).toEqual([]);
        },
      },
      {
        about: "is refused naming the right",
        as: SEERS.filter((person) => !(WRITERS as readonly string[]).includes(person)),
        async prove(stage, person) {
          const tenant = stage.world.tenantOf(person);
          const id = await GROUP.make(stage, tenant, `Not for ${person} ${stage.world.run}`);
          stage.world.removeLater(tenant, `/asset_groups/${id}`);
          const args = { ...inTenant(stage, person), asset_group_id: id, clear_endpoints: true };
          await refuses(stage, person, "set_asset_group_assets", args, /unknown tool|_ASSETS/);
        },
      },
    ],
  },
];
