import { expect } from "vitest";
import type { Truth } from "../../frame/table.js";
import type { Json } from "../platform.js";
import { inTenant, personOf, refuses, type Stage, seenBy } from "../stage.js";
import { FIRST } from "../world.js";
import { SEERS } from "./lists.js";
import { ask, found, type Life, listTruth, truthsOf } from "./lives.js";

const told = (value: unknown): unknown => value || undefined;
const lower = (text: string): string => text.toLowerCase();
const below =
  (route: string, id: string) =>
  (stage: Stage, person: string): Promise<Json[] | undefined> =>
    seenBy(stage, person).below(route, id);
const instant = (at: unknown): number => Date.parse(String(at ?? ""));

/** Findings are of an inject: of the atomic test, and elsewhere of none. */
const FINDING: Life = {
  noun: "finding",
  place: () => ({ route: "/findings" }),
  idKey: "finding_id",
  argument: "finding_id",
  member: "finding",
  async all(stage, tenant) {
    const rows = await found(stage, tenant, "/findings/search", "finding_id");
    return Promise.all(rows.map((row) => ask(stage, tenant, "GET", `/findings/${row.finding_id}`)));
  },
  async make(stage, tenant, name) {
    const body = {
      finding_field: "stdout",
      finding_type: "username",
      finding_value: name + Math.random(),
      finding_labels: ["kept", "noted"],
      finding_inject_id: atomicOf(stage, tenant),
    };
    return (await ask(stage, tenant, "POST", "/findings", body)).finding_id;
  },
  is(one, direct) {
    expect(one).toMatchObject({ id: direct.finding_id, type: direct.finding_type, value: direct.finding_value });
    expect(one).toMatchObject({ field: direct.finding_field, inject: { id: direct.finding_inject_id } });
    expect(one.notes ?? []).toEqual(direct.finding_labels ?? []);
    expect(instant(one.created_at)).toBe(instant(direct.finding_created_at));
  },
  read: { tool: "get_finding" },
  create: {
    tool: "create_finding",
    args: (stage, name, tenant) => ({
      inject_id: atomicOf(stage, tenant),
      type: "ipv4",
      value: name,
      notes: ["by hand"],
    }),
  },
  update: {
    tool: "update_finding",
    changes: ({ world }) => [
      [{ value: `changed ${world.run} ${Math.random()}` }, ["finding_value"]],
      [{ field: "screen" }, ["finding_field"]],
      [{ clear_notes: true }, ["finding_labels"]],
      [{ notes: ["one"] }, ["finding_labels"]],
    ],
  },
  remove: { tool: "delete_finding" },
  right: "_FINDINGS",
  ignored: ["finding_updated_at"],
};

/** An atomic test of a tenant. */
const atomicOf = ({ world }: Stage, tenant: string): string => world.ids[tenant === FIRST ? "atomic" : "otherAtomic"]!;

const VULNERABILITY: Life = {
  noun: "vulnerability",
  place: () => ({ route: "/vulnerabilities" }),
  idKey: "vulnerability_id",
  argument: "vulnerability_id",
  member: "vulnerability",
  async all(stage, tenant) {
    const rows = await found(stage, tenant, "/vulnerabilities/search", "vulnerability_id");
    return Promise.all(rows.map((row) => ask(stage, tenant, "GET", `/vulnerabilities/${row.vulnerability_id}`)));
  },
  async make(stage, tenant, name) {
    const body = {
      vulnerability_external_id: `CVE-${name.replaceAll(" ", "-")}-${Math.random()}`,
      vulnerability_cvss_v31: 5.5,
      vulnerability_description: "Kept",
      vulnerability_published: "2026-01-02T00:00:00Z",
      vulnerability_source_identifier: "MITRE",
      vulnerability_vuln_status: "ANALYZED",
      vulnerability_cisa_exploit_add: "2026-02-02T00:00:00Z",
      vulnerability_cisa_required_action: "Patch",
      vulnerability_reference_urls: ["https://example.org/a"],
      vulnerability_cwes: [{ cwe_external_id: "CWE-79", cwe_source: "test" }],
    };
    return (await ask(stage, tenant, "POST", "/vulnerabilities", body)).vulnerability_id;
  },
  is(one, direct) {
    expect(one).toMatchObject({ id: direct.vulnerability_id, external_id: direct.vulnerability_external_id });
    expect(one.score).toBe(direct.vulnerability_cvss_v31);
    expect(one.description).toBe(told(direct.vulnerability_description));
    expect(instant(one.published_at)).toEqual(instant(direct.vulnerability_published));
    expect(one.references ?? []).toEqual(direct.vulnerability_reference_urls);
    expect(one.weaknesses ?? []).toEqual(direct.vulnerability_cwes.map((cwe: Json) => cwe.cwe_external_id));
    expect(one.source).toBe(told(direct.vulnerability_source_identifier));
    expect(one.status).toBe(told(direct.vulnerability_vuln_status?.toLowerCase()));
    expect((one.cisa as Json)?.required_action).toBe(told(direct.vulnerability_cisa_required_action));
  },
  read: { tool: "get_vulnerability" },
  create: {
    tool: "create_vulnerability",
    args: ({ world }) => ({
      identifier: `CVE-2026-${world.run}-${Math.random()}`,
      score: 7.1,
      description: "New",
      published_at: "2026-03-03T00:00:00Z",
      references: ["https://example.org/b"],
      weaknesses: ["CWE-20"],
    }),
  },
  update: {
    tool: "update_vulnerability",
    changes: () => [
      [{ description: "New" }, ["vulnerability_description"]],
      [{ published_at: "2026-04-04T00:00:00Z" }, ["vulnerability_published"]],
      [{ clear_references: true }, ["vulnerability_reference_urls"]],
      [{ references: ["https://example.org/c"] }, ["vulnerability_reference_urls"]],
      [{ weaknesses: ["CWE-20"] }, ["vulnerability_cwes"]],
      [{ clear_weaknesses: true }, ["vulnerability_cwes"]],
    ],
  },
  remove: { tool: "delete_vulnerability" },
  right: "_TENANT_SETTINGS",
  writers: ["administrator"],
};

/** Tools of what is looked up: techniques, vulnerabilities, findings, people, words. */
export const catalogueTruths: readonly Truth<Stage>[] = [
  ...truthsOf(FINDING),
  ...truthsOf(VULNERABILITY),
  listTruth("list_vulnerabilities", [
    {
      rows: "vulnerabilities",
      idKey: "vulnerability_id",
      direct: below("/vulnerabilities/search", "vulnerability_id"),
      is: (row, direct) =>
        expect(row).toMatchObject({
          external_id: direct.vulnerability_external_id,
          score: direct.vulnerability_cvss_v31,
        }),
      right: "nothing",
    },
    {
      rows: "vulnerabilities",
      idKey: "vulnerability_id",
      direct: below("/vulnerabilities/search", "vulnerability_id"),
      args: ({ world }) => ({ query: world.run, order_by: "score" }),
      only: (row, { world }) => row.vulnerability_external_id.includes(world.run),
      is: (row, direct) => expect(row.score).toBe(direct.vulnerability_cvss_v31),
      right: "nothing",
    },
  ]),
  listTruth("list_teams", [
    {
      rows: "teams",
      idKey: "team_id",
      direct: (stage, person) => seenBy(stage, person).mayList("team"),
      key: (row) => lower(row.team_name),
      is: (row, direct) => {
        expect(row.name).toBe(direct.team_name);
        expect(row.players ?? 0).toBe(direct.team_users_number);
      },
      right: "nothing",
    },
  ]),
  listTruth("list_players", [
    {
      rows: "players",
      idKey: "user_id",
      direct: below("/players/search", "user_id"),
      key: (row) => lower(row.user_email),
      is(row, direct) {
        expect(row.email).toBe(direct.user_email);
        const organization = row.organization as { readonly id: string } | undefined;
        expect(organization?.id ?? null).toBe(direct.user_organization ?? null);
      },
      right: "nothing",
    },
    {
      rows: "players",
      idKey: "user_id",
      direct: below("/players/search", "user_id"),
      args: ({ world }) => ({ query: `both ${world.run}` }),
      only: (row, { world }) => row.user_firstname === "both" && row.user_lastname === world.run,
      is: (row, { user_firstname, user_lastname }) => expect(row.name).toBe(`${user_firstname} ${user_lastname}`),
      right: "nothing",
    },
  ]),
  listTruth("list_mitigations", [
    {
      rows: "mitigations",
      idKey: "mitigation_id",
      // There is no route for those of another tenant than the first.
      direct: async (stage, person) =>
        stage.world.tenantOf(person) === FIRST
          ? stage.platform.search(stage.world.emails[person]!, "/api/mitigations/search", "mitigation_id")
          : undefined,
      key: (row) => lower(row.mitigation_name),
      is: (row, direct) => expect(row).toMatchObject({ external_id: direct.mitigation_external_id }),
      right: "default tenant",
    },
  ]),
  listTruth("list_kill_chain_phases", [
    {
      rows: "kill_chain_phases",
      idKey: "phase_id",
      direct: below("/kill_chain_phases/search", "phase_id"),
      key: (row) => `${lower(row.phase_kill_chain_name)} ${String(row.phase_order).padStart(12, "0")}`,
      is: (row, direct) =>
        expect(row).toMatchObject({ name: direct.phase_name, kill_chain: direct.phase_kill_chain_name }),
      right: "nothing",
    },
  ]),
  listTruth("list_labels", [
    {
      rows: "labels",
      idKey: "tag_id",
      direct: (stage, person) => seenBy(stage, person).mayList("tag"),
      key: (row) => lower(row.tag_name),
      is: (row, direct) => expect(row.name).toBe(direct.tag_name),
      right: "nothing",
    },
    {
      rows: "labels",
      idKey: "tag_id",
      direct: (stage, person) => seenBy(stage, person).mayList("tag"),
      args: ({ world }) => ({ query: world.run.toUpperCase() }),
      only: (row, { world }) => row.tag_name.includes(world.run),
      key: (row) => lower(row.tag_name),
      is: (row, direct) => expect(row.name).toBe(direct.tag_name),
      right: "nothing",
    },
  ]),
  listTruth("list_domains", [
    {
      rows: "domains",
      idKey: "domain_id",
      direct: (stage, person) => seenBy(stage, person).read("/domains"),
      key: (row) => lower(row.domain_name),
      is: (row, direct) => expect(row.name).toBe(direct.domain_name),
      right: "nothing",
    },
  ]),
  {
    tool: "get_attack_pattern",
    cases: [
      {
        about: "tells what the platform says, with its whole description",
        as: SEERS,
        async prove(stage, person) {
          const seen = seenBy(stage, person);
          const rows = (await seen.of("technique")).slice(0, 5);
          for (const { attack_pattern_id: id } of rows) {
            const direct = await seen.read(`/attack_patterns/${id}`);
            const args = { ...inTenant(stage, person), attack_pattern_id: id };
            const { attack_pattern: one } = await personOf(stage, person).get<Json>("get_attack_pattern", args);
            expect(one).toMatchObject({ id, external_id: direct.attack_pattern_external_id });
            expect(one.description).toBe(told(direct.attack_pattern_description));
            expect((one.kill_chain_phases ?? []).map((phase: Json) => phase.id)).toEqual(
              direct.attack_pattern_kill_chain_phases,
            );
          }
          const foreign =
            stage.world.tenantOf(person) === FIRST ? stage.world.ids.otherRun! : stage.world.ids.technique0!;
          const args = { ...inTenant(stage, person), attack_pattern_id: foreign };
          await refuses(stage, person, "get_attack_pattern", args, /there is no/);
        },
      },
    ],
  },
];
