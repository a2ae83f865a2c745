import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AssetGroupService } from "#proto/aev/v1/asset_group_service_pb.js";
import { AssetService, EndpointPlatform } from "#proto/aev/v1/asset_service_pb.js";
import { AudienceService } from "#proto/aev/v1/audience_service_pb.js";
import { FindingOrder, FindingService } from "#proto/aev/v1/finding_service_pb.js";
import { TechniqueService } from "#proto/aev/v1/technique_service_pb.js";
import { VulnerabilityOrder, VulnerabilityService } from "#proto/aev/v1/vulnerability_service_pb.js";
import { WordService } from "#proto/aev/v1/word_service_pb.js";
import { DEFAULT_TENANT as FIRST, SECOND_TENANT as SECOND } from "../../../../../services/sandbox/aev/world.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { Desk, everyPage, type Json } from "./content.js";

const UNKNOWN = "00000000-0000-4000-8000-000000000000";
let stack: AevHarness;
let planner: Desk;
let admin: Desk;

beforeAll(async () => {
  stack = await startAev();
  planner = new Desk(stack, "planner", FIRST);
  admin = new Desk(stack, "admin", FIRST);
});
afterAll(() => stack.close());

const label = async (at: number): Promise<Json> => (await planner.rows("/tags/search"))[at];

describe("endpoints", () => {
  const { getEndpoint, createEndpoint, updateEndpoint, deleteEndpoint } = AssetService.method;

  test("are read with what a search leaves out", async () => {
    const [row] = (await planner.rows("/endpoints/search")).filter(({ asset_name }) => asset_name === "web-par-01");
    const { endpoint } = await planner.call(getEndpoint, { endpointId: row.asset_id.toUpperCase() });
    expect(endpoint).toMatchObject({
      id: row.asset_id,
      hostname: "web-par-01.corp.example",
      ips: ["10.10.0.1"],
      description: "The web machine 1 in par",
    });
    expect(endpoint?.macAddresses).toHaveLength(1);
  });

  test("keep what a read by id does not tell, such as what their agent is known by", async () => {
    const [row] = (await planner.rows("/endpoints/search")).filter(({ asset_agents }) => asset_agents.length > 0);
    const whole = async () => (await planner.ask("POST", "/endpoints/find", [row.asset_id]))[0];
    const before = await whole();
    expect(before.asset_external_reference).toMatch(/^agent of/);
    await planner.call(updateEndpoint, { endpointId: row.asset_id, name: "Renamed" });
    expect(await whole()).toEqual({ ...before, asset_name: "Renamed", asset_updated_at: expect.any(String) });
  });

  test("are added, changed field by field, and deleted", async () => {
    const red = await label(0);
    const { endpoint } = await planner.call(createEndpoint, {
      name: " Mail gate ",
      hostname: "gate",
      platform: EndpointPlatform.MACOS,
      arch: "arm64",
      ips: ["10.1.1.1"],
      macAddresses: ["02:00:00:00:00:AA"],
      labels: [red.tag_name],
      description: "Old",
    });
    const endpointId = endpoint?.id as string;
    expect(endpoint).toMatchObject({ name: "Mail gate", labels: [red.tag_name], macAddresses: ["0200000000aa"] });
    const whole = () => planner.ask("GET", `/endpoints/${endpointId}`);
    const before = await whole();
    expect(before).toMatchObject({ endpoint_platform: "MacOS", asset_name: "Mail gate", endpoint_is_eol: false });
    const changes = [
      [{ name: "Gate" }, { asset_name: "Gate" }],
      [{ description: "" }, { asset_description: undefined }],
      [{ ips: ["10.1.1.2"] }, { endpoint_ips: ["10.1.1.2"] }],
      [{ clearMacAddresses: true }, { endpoint_mac_addresses: [] }],
      [{ clearLabels: true }, { asset_tags: [] }],
      [{ endOfLife: true }, { endpoint_is_eol: true }],
      [{ platform: EndpointPlatform.LINUX }, { endpoint_platform: "Linux" }],
    ] as const;
    let expected = before;
    for (const [change, changed] of changes) {
      await planner.call(updateEndpoint, { endpointId, ...(change as object) });
      expected = { ...expected, ...changed };
      expect(await whole()).toEqual(JSON.parse(JSON.stringify(expected)));
    }
    const { deleted } = await planner.call(deleteEndpoint, { endpointId });
    expect(deleted).toMatchObject({ id: endpointId, name: "Gate" });
    expect(await refusal(planner.call(getEndpoint, { endpointId }))).toMatchObject({ code: Code.NotFound });
  });
});

describe("asset groups", () => {
  const { listAssetGroups, getAssetGroup, createAssetGroup, updateAssetGroup, setAssetGroupAssets, deleteAssetGroup } =
    AssetGroupService.method;

  test("are found, each once, and read with their endpoints", async () => {
    const direct = await planner.rows("/asset_groups/search");
    const { rows } = await everyPage(planner, listAssetGroups);
    expect(rows.map(({ name }) => name)).toEqual(direct.map((row) => row.asset_group_name).sort());
    const [group] = rows;
    const { assetGroup, endpoints, totalSize } = await planner.call(getAssetGroup, { assetGroupId: group.id });
    expect(assetGroup).toMatchObject({ id: group.id, listedEndpoints: totalSize, matchingEndpoints: 0 });
    expect(endpoints).toHaveLength(20);
  });

  test("are found by their description, and say in a list that they have conditions", async () => {
    const condition = { field: "platform", operator: "eq", values: ["Windows"] };
    const made = await planner.call(createAssetGroup, {
      name: "By rule",
      description: "Every machine with the old desktop",
      conditions: [condition],
    });
    const { assetGroups } = await planner.call(listAssetGroups, { query: "OLD DESKTOP" });
    expect(assetGroups).toMatchObject([{ id: made.assetGroup!.id, listedEndpoints: 0, conditionCount: 1 }]);
    await planner.call(deleteAssetGroup, { assetGroupId: made.assetGroup!.id });
  });

  test("hold what is listed and what meets their conditions", async () => {
    const red = await label(0);
    const made = await planner.call(createAssetGroup, {
      name: "Paris",
      conditions: [
        // Of several values one is enough.
        { field: "name", operator: "contains", values: ["-par-", "nowhere"] },
        { field: "platform", operator: "", values: ["Windows"] },
        { field: "label", operator: "not_empty", values: [] },
      ],
    });
    const assetGroupId = made.assetGroup?.id as string;
    const meeting = (await planner.rows("/endpoints/search")).filter(
      (row) => row.asset_name.includes("-par-") && row.endpoint_platform === "Windows" && row.asset_tags.length > 0,
    );
    expect(meeting.length).toBeGreaterThan(0);
    expect(made.assetGroup).toMatchObject({ matchingEndpoints: meeting.length, listedEndpoints: 0 });
    const [first, second] = await planner.rows("/endpoints/search");
    const endpointIds = [first.asset_id, second.asset_id];
    const set = await planner.call(setAssetGroupAssets, { assetGroupId, endpointIds });
    expect(set).toMatchObject({ added: 2, removed: 0, assetGroup: { listedEndpoints: 2 } });
    const changed = await planner.call(updateAssetGroup, { assetGroupId, description: "New", labels: [red.tag_id] });
    expect(changed.assetGroup).toMatchObject({
      name: "Paris",
      description: "New",
      labels: [red.tag_name],
      listedEndpoints: 2,
    });
    expect(changed.assetGroup?.conditions.map(({ field }) => field)).toEqual(["name", "platform", "label"]);
    const lost = await refusal(
      planner.call(setAssetGroupAssets, { assetGroupId, endpointIds: [first.asset_id, UNKNOWN] }),
    );
    expect(lost).toMatchObject({ code: Code.NotFound, rawMessage: expect.stringContaining(UNKNOWN) });
    expect((await planner.ask("GET", `/asset_groups/${assetGroupId}`)).asset_group_assets).toEqual(endpointIds);
    const cleared = await planner.call(setAssetGroupAssets, { assetGroupId, clearEndpoints: true });
    expect(cleared).toMatchObject({ added: 0, removed: 2 });
    const freed = await planner.call(updateAssetGroup, { assetGroupId, clearConditions: true });
    // The platform's own answer tells once more what met them.
    expect(freed.assetGroup).toMatchObject({ conditions: [], matchingEndpoints: 0 });
    await planner.call(deleteAssetGroup, { assetGroupId });
    expect(await refusal(planner.call(getAssetGroup, { assetGroupId }))).toMatchObject({ code: Code.NotFound });
  });

  test("take no condition that the platform fails over later", async () => {
    const make = (operator: string, values: string[]) =>
      refusal(planner.call(createAssetGroup, { name: "x", conditions: [{ field: "name", operator, values }] }));
    expect(await make("eq", ["true"])).toMatchObject({ code: Code.InvalidArgument });
    expect(await make("empty", ["x"])).toMatchObject({ code: Code.InvalidArgument });
    expect(await make("", [])).toMatchObject({ code: Code.InvalidArgument });
  });
});

describe("teams and players", () => {
  test("are found by who is a member of the tenant", async () => {
    const { rows } = await everyPage(planner, AudienceService.method.listTeams);
    expect(rows.map(({ name }) => name)).toEqual(
      (await planner.rows("/teams/search")).map((row) => row.team_name).sort(),
    );
    const players = await everyPage(planner, AudienceService.method.listPlayers);
    expect(players.rows.map(({ email }) => email)).toContain("paula@sallyport.example");
    expect(players.rows.map(({ email }) => email)).not.toContain("outsider@sallyport.example");
    const named = await planner.call(AudienceService.method.listPlayers, { query: "paula player" });
    // The platform's search of organizations refuses to sort by name.
    const organization = { name: "Retail banking" };
    expect(named.players).toMatchObject([{ name: "Paula Player", email: "paula@sallyport.example", organization }]);
    const unknown = refusal(planner.call(AudienceService.method.listPlayers, { teamId: UNKNOWN }));
    expect(await unknown).toMatchObject({ code: Code.NotFound });
    const none = await planner.call(AudienceService.method.listPlayers, { teamId: rows[0].id });
    expect(none.players).toEqual([]);
  });
});

describe("techniques and words", () => {
  const { listAttackPatterns, getAttackPattern, listMitigations, listKillChainPhases } = TechniqueService.method;

  test("a technique is read with its phases", async () => {
    const { attackPatterns } = await planner.call(listAttackPatterns, { query: "T1059.001" });
    const attackPatternId = attackPatterns[0]?.id as string;
    const { attackPattern } = await planner.call(getAttackPattern, { attackPatternId });
    expect(attackPattern).toMatchObject({ externalId: "T1059.001", killChainPhases: [{ name: "Execution" }] });
    expect(await refusal(planner.call(getAttackPattern, { attackPatternId: UNKNOWN }))).toMatchObject({
      code: Code.NotFound,
    });
  });

  test("mitigations are found by technique", async () => {
    const { rows } = await everyPage(planner, listMitigations, {}, 7);
    expect(rows.length).toBeGreaterThan(5);
    const direct: Json = (await stack.ask("planner", "POST", "/api/mitigations/search", { size: 1 })).body;
    const [one] = direct.content;
    const [attackPatternId] = one.mitigation_attack_patterns;
    const { mitigations } = await planner.call(listMitigations, { attackPatternId });
    expect(mitigations).toMatchObject([{ id: one.mitigation_id, externalId: one.mitigation_external_id }]);
    // The platform has no route for those of another tenant, and would give these.
    const elsewhere = await refusal(stack.call(listMitigations, { tenantId: SECOND }, "planner"));
    expect(elsewhere).toMatchObject({ code: Code.FailedPrecondition });
  });

  test("phases are in their order, labels and domains in that of their names", async () => {
    const { rows } = await everyPage(planner, listKillChainPhases);
    const orders = rows.map(({ order }) => order);
    expect(orders).toEqual([...orders].sort((a, b) => a - b));
    const labels = await everyPage(planner, WordService.method.listLabels);
    expect(labels.rows.map(({ name }) => name)).toEqual(
      (await planner.rows("/tags/search")).map((row) => row.tag_name).sort(),
    );
    const { domains, totalSize } = await planner.call(WordService.method.listDomains, {});
    expect(domains.map(({ name }) => name)).toEqual(["Cloud", "Endpoint", "Network"]);
    expect(totalSize).toBe(3);
  });
});

describe("vulnerabilities", () => {
  const { listVulnerabilities, getVulnerability, createVulnerability, updateVulnerability, deleteVulnerability } =
    VulnerabilityService.method;

  test("are in the order asked for, and read by identifier in any case", async () => {
    const byScore = await everyPage(planner, listVulnerabilities, { orderBy: VulnerabilityOrder.SCORE });
    expect(byScore.rows.map(({ score }) => score)).toEqual([10, 10, 9.8, 7.5]);
    const newest = await everyPage(planner, listVulnerabilities);
    expect(newest.rows[0]).toMatchObject({ externalId: "CVE-2023-20198" });
    const { vulnerability } = await planner.call(getVulnerability, {
      by: { case: "identifier", value: "cve-2021-44228" },
    });
    expect(vulnerability).toMatchObject({
      externalId: "CVE-2021-44228",
      weaknesses: ["CWE-20"],
      description: "The vulnerability CVE-2021-44228",
    });
  });

  test("keep what a change leaves out", async () => {
    const { vulnerability } = await admin.call(createVulnerability, {
      identifier: "CVE-2026-1",
      score: 7.1,
      description: "Old",
      references: ["https://example.org/1"],
      weaknesses: ["CWE-79"],
    });
    const vulnerabilityId = vulnerability?.id as string;
    const again = await refusal(admin.call(createVulnerability, { identifier: "CVE-2026-1", score: 1 }));
    expect(again.rawMessage).toMatch(/there is one with the same identifier$/);
    const { vulnerability: changed } = await admin.call(updateVulnerability, { vulnerabilityId, description: "New" });
    expect(changed).toMatchObject({
      externalId: "CVE-2026-1",
      score: 7.1,
      description: "New",
      references: ["https://example.org/1"],
      weaknesses: ["CWE-79"],
    });
    const { vulnerability: bare } = await admin.call(updateVulnerability, { vulnerabilityId, clearWeaknesses: true });
    expect(bare).toMatchObject({ description: "New", weaknesses: [] });
    expect((await admin.call(deleteVulnerability, { vulnerabilityId })).deleted).toMatchObject({ name: "CVE-2026-1" });
  });

  test("need the right over settings, which is named", async () => {
    const error = await refusal(planner.call(createVulnerability, { identifier: "CVE-2026-2", score: 1 }));
    expect(error).toMatchObject({ code: Code.PermissionDenied });
    expect(error.rawMessage).toContain("MANAGE_TENANT_SETTINGS");
  });
});

describe("findings", () => {
  test("of one run all say their endpoint, not only the first, in every search and in a read", async () => {
    const { listFindings, getFinding } = FindingService.method;
    const searched = await planner.rows("/findings/search");
    const known = new Map<string, string[]>();
    for (const { finding_id: id } of searched) {
      const direct = (await planner.ask("GET", `/findings/${id}`)) as { readonly finding_assets: string[] };
      known.set(id, direct.finding_assets.toSorted());
    }
    const { rows } = await everyPage(planner, listFindings, {}, 100);
    const told = new Map(rows.map((row) => [row.id, row.endpoints.map(({ id }: { id: string }) => id).toSorted()]));
    expect(told).toEqual(known);
    const bare = searched.find((row) => row.finding_assets.length === 0 && known.get(row.finding_id)!.length > 0);
    const { finding } = await planner.call(getFinding, { findingId: bare!.finding_id });
    expect(finding?.endpoints.map(({ id }) => id)).toEqual(known.get(bare!.finding_id));
    expect(finding?.endpoints.every(({ name }) => name !== "")).toBe(true);
    // A search shows some endpoints of a finding and leaves others out.
    const isCut = ({ finding_id: id, finding_assets: shown }: Json) =>
      shown.length > 0 && shown.length < known.get(id)!.length;
    expect(searched.filter(isCut).length).toBeGreaterThan(0);
  });

  test("that are CVEs have their scores, and the worst come first where asked", async () => {
    const { listFindings } = FindingService.method;
    const vulnerabilities = await planner.rows("/vulnerabilities/search");
    const scores = new Map(
      vulnerabilities.map((row) => [row.vulnerability_external_id.toLowerCase(), row.vulnerability_cvss_v31]),
    );
    const searched = await planner.rows("/findings/search");
    const inject = searched[0].finding_inject.inject_id;
    const made: string[] = [];
    for (const { vulnerability_external_id: value } of vulnerabilities.slice(0, 5)) {
      const body = { finding_inject_id: inject, finding_type: "cve", finding_field: "by hand", finding_value: value };
      made.push((await planner.ask("POST", "/findings", body)).finding_id);
    }
    const { rows } = await everyPage(planner, listFindings, {}, 100);
    const wanted = (row: Json) => (row.type === "cve" ? (scores.get(row.value.toLowerCase()) ?? undefined) : undefined);
    expect(rows.map(({ id, score }) => [id, score])).toEqual(rows.map((row) => [row.id, wanted(row)]));
    expect(rows.filter(({ score }) => score !== undefined).length).toBeGreaterThanOrEqual(made.length);
    const worst = await everyPage(planner, listFindings, { orderBy: FindingOrder.SCORE }, 3);
    const cves = rows.filter(({ type }) => type === "cve");
    expect(worst.rows.map(({ id }) => id).toSorted()).toEqual(cves.map(({ id }) => id).toSorted());
    const told = worst.rows.map(({ score }) => score ?? -1);
    expect(told).toEqual(told.toSorted((a, b) => b - a));
    const both = planner.call(listFindings, { orderBy: FindingOrder.SCORE, types: ["cve", "ipv4"] });
    expect((await refusal(both)).rawMessage).toMatch(/^types: only findings of type cve/);
    for (const id of made) await planner.ask("DELETE", `/findings/${id}`);
  });

  const { getFinding, createFinding, updateFinding, deleteFinding } = FindingService.method;

  test("are recorded, read, changed and deleted", async () => {
    const [found] = await planner.rows("/findings/search");
    const read = await planner.call(getFinding, { findingId: found.finding_id });
    expect(read.finding).toMatchObject({ id: found.finding_id, inject: { id: found.finding_inject.inject_id } });
    const { finding } = await planner.call(createFinding, {
      injectId: found.finding_inject.inject_id,
      type: "cve",
      value: "CVE-2026-77",
      notes: ["by hand"],
    });
    expect(finding).toMatchObject({ field: "manual", notes: ["by hand"], value: "CVE-2026-77" });
    const findingId = finding?.id as string;
    const same = { injectId: finding!.inject!.id, type: "cve", value: "CVE-2026-77" };
    const again = await refusal(planner.call(createFinding, same));
    expect(again.rawMessage).toMatch(/there is one with the same inject_id, type, value, field$/);
    const { finding: changed } = await planner.call(updateFinding, { findingId, value: "CVE-2026-78" });
    expect(changed).toMatchObject({ field: "manual", notes: ["by hand"], value: "CVE-2026-78", type: "cve" });
    const { finding: bare } = await planner.call(updateFinding, { findingId, clearNotes: true });
    expect(bare).toMatchObject({ notes: [], value: "CVE-2026-78" });
    await planner.call(deleteFinding, { findingId });
    expect(await refusal(planner.call(getFinding, { findingId }))).toMatchObject({ code: Code.NotFound });
    // The platform's filter does not take the words that it shows of these.
    for (const type of [
      ...["account_with_password_not_required", "asreproastable_account", "kerberoastable_account"],
      ...["admin_username", "password_policy", "portscan"],
    ]) {
      const made = await planner.call(createFinding, { injectId: finding!.inject!.id, type, value: `svc ${type}` });
      expect(made.finding?.type).toBe(type);
      const listed = await planner.call(FindingService.method.listFindings, { types: [type] });
      expect(listed.findings.map(({ id }) => id)).toContain(made.finding?.id);
      expect(new Set(listed.findings.map((one) => one.type))).toEqual(new Set([type]));
    }
    const lost = await refusal(planner.call(createFinding, { injectId: UNKNOWN, type: "cve", value: "x" }));
    expect(lost).toMatchObject({ code: Code.NotFound, rawMessage: expect.stringContaining("there is no inject") });
  });
});
