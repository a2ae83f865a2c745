import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AccountService } from "#proto/grc/v1/account_service_pb.js";
import { AssetService, AssetType } from "#proto/grc/v1/asset_service_pb.js";
import { ControlCategory } from "#proto/grc/v1/control_service_pb.js";
import { CveService } from "#proto/grc/v1/cve_service_pb.js";
import { FrameworkService } from "#proto/grc/v1/framework_service_pb.js";
import { OrganizationService } from "#proto/grc/v1/organization_service_pb.js";
import { QuantificationService } from "#proto/grc/v1/quantification_service_pb.js";
import { TenantService } from "#proto/grc/v1/tenant_service_pb.js";
import { seededId } from "../../../../../services/sandbox/grc/world.js";
import { type GrcHarness, startGrc } from "../../../../support/platforms/grc.js";

const NORTHWIND = seededId("folder:northwind");
const BALTIC = seededId("folder:baltic");
const ISO = seededId("frameworks:iso27001-2022");
const CSF = seededId("frameworks:nist-csf-2.0");

let harness: GrcHarness;
beforeAll(async () => {
  harness = await startGrc("bearer");
});
afterAll(() => harness.close());

const refused = (call: Promise<unknown>, code: Code, words: RegExp) =>
  expect(call).rejects.toMatchObject({ code, rawMessage: expect.stringMatching(words) });

describe("assets", () => {
  const { listPrimaryAssets, listSupportingAssets, getAsset, createAsset, updateAsset, deleteAsset } =
    AssetService.method;

  test("are listed by kind, page by page, each once, and supporting ones by what they carry", async () => {
    const ids: string[] = [];
    let pageToken = "";
    do {
      const page = await harness.call(listSupportingAssets, { pageSize: 3, pageToken });
      ids.push(...page.assets.map(({ id }) => id));
      expect(page.totalSize).toBe((await harness.call(listSupportingAssets, {})).totalSize);
      pageToken = page.nextPageToken ?? "";
    } while (pageToken !== "");
    expect(new Set(ids).size).toBe(ids.length);
    const { assets } = await harness.call(listPrimaryAssets, { pageSize: 100 });
    expect(assets.every(({ id }) => !ids.includes(id))).toBe(true);
    const [primary] = assets.filter(({ id }) => id === seededId("assets:northwind:0"));
    const carrying = await harness.call(listSupportingAssets, { primaryAssetId: primary!.id });
    for (const { parents } of carrying.assets) expect(parents.map(({ id }) => id)).toContain(primary!.id);
    const { asset } = await harness.call(getAsset, { assetId: primary!.id });
    expect(asset).toMatchObject({ type: AssetType.PRIMARY, parents: [] });
    expect(new Set(asset?.children.map(({ id }) => id))).toEqual(new Set(carrying.assets.map(({ id }) => id)));
  });

  test("are found by their own words, and not by the name of their domain", async () => {
    const word = "energy";
    const { results } = (await harness.ask("admin", "GET", `/api/assets/?folder=${NORTHWIND}&type=SP`)) as unknown as {
      readonly results: readonly Readonly<Record<"name" | "description" | "ref_id", string | null>>[];
    };
    const expected = results.filter(({ name, description, ref_id }) =>
      `${name} ${description} ${ref_id}`.toLowerCase().includes(word),
    ).length;
    expect((await harness.call(listSupportingAssets, { query: word })).totalSize).toBe(expected);
    expect(expected).toBeLessThan((await harness.call(listSupportingAssets, {})).totalSize);
  });

  test("are created, changed and deleted in the tenant, and tied to nothing of another", async () => {
    const parent = seededId("assets:northwind:0");
    const { asset } = await harness.call(createAsset, {
      name: "Payment switch",
      type: AssetType.SUPPORTING,
      link: "https://wiki.example/switch",
      parentAssetIds: [parent],
    });
    expect(asset).toMatchObject({ type: AssetType.SUPPORTING, domain: { id: NORTHWIND }, parents: [{ id: parent }] });
    const changed = await harness.call(updateAsset, {
      assetId: asset!.id,
      observation: "Old",
      clearParentAssets: true,
    });
    expect(changed.asset).toMatchObject({ name: "Payment switch", observation: "Old", parents: [] });
    const foreign = seededId("assets:baltic:0");
    const across = { tenantId: NORTHWIND, assetId: asset!.id, parentAssetIds: [foreign] };
    await refused(harness.call(updateAsset, across, "consultant"), Code.NotFound, /parent_asset_ids/);
    for (const link of ["urn:isbn:1", "javascript:alert(1)", "https://a b.example"]) {
      await refused(harness.call(updateAsset, { assetId: asset!.id, link }), Code.InvalidArgument, /^link: /);
    }
    const twice = { name: "Payment switch", type: AssetType.PRIMARY };
    await refused(
      harness.call(createAsset, twice),
      Code.AlreadyExists,
      /name: another object of this domain already uses it/,
    );
    const cycle = { assetId: parent, parentAssetIds: [seededId("assets:northwind:1")] };
    await refused(harness.call(updateAsset, cycle), Code.InvalidArgument, /cycle/i);
    const { deleted } = await harness.call(deleteAsset, { assetId: asset!.id });
    expect(deleted).toMatchObject({ id: asset!.id, name: "Payment switch" });
    await refused(harness.call(getAsset, { assetId: asset!.id }), Code.NotFound, /asset_id/);
    await refused(harness.call(deleteAsset, { assetId: parent }, "reader"), Code.PermissionDenied, /may see this/);
  });
});

test("one tenant is read, and whoami tells one tenant alone where it is named", async () => {
  const { tenant } = await harness.call(TenantService.method.getTenant, {});
  expect(tenant).toMatchObject({ id: NORTHWIND, name: "Northwind Energy" });
  expect(tenant?.domains.map(({ name }) => name)).toContain("Retail");
  await refused(
    harness.call(TenantService.method.getTenant, {}, "consultant"),
    Code.InvalidArgument,
    /several tenants/,
  );
  const whoami = AccountService.method.whoami;
  const { tenants } = await harness.call(whoami, { tenantId: BALTIC }, "consultant");
  expect(tenants.map(({ id }) => id)).toEqual([BALTIC]);
  await refused(harness.call(whoami, { tenantId: BALTIC }), Code.NotFound, /no such tenant/);
  const listed = await harness.call(TenantService.method.listTenants, { tenantId: BALTIC }, "consultant");
  expect(listed.tenants.map(({ id }) => id)).toEqual([BALTIC]);
});

test("organizations are those of the tenant", async () => {
  const { listOrganizations, getOrganization } = OrganizationService.method;
  const { organizations, totalSize } = await harness.call(listOrganizations, {});
  expect(totalSize).toBe(5);
  expect(organizations.every(({ name }) => name.startsWith("Northwind"))).toBe(true);
  const read = await harness.call(getOrganization, { organizationId: seededId("entities:northwind:0") });
  expect(read.organization).toMatchObject({ mission: "Runs the data centre", maturity: 1, trust: 1, dependency: 0 });
  const foreign = { organizationId: seededId("entities:baltic:0") };
  await refused(harness.call(getOrganization, foreign), Code.NotFound, /organization_id/);
});

describe("libraries", () => {
  const { listRequirements, getRequirement, listMaturityLevels, listReferenceControls } = FrameworkService.method;

  test("requirements come in the order of the framework, and by words of their texts too", async () => {
    const all = await harness.call(listRequirements, { frameworkId: CSF, pageSize: 4 });
    expect(all.requirements.map(({ refId }) => refId)).toEqual(["GV", "GV.OC", "GV.OC-01", "GV.OC-02"]);
    // Names are searched by the platform, texts are not.
    const query = "organizational MISSION";
    const found = await harness.call(listRequirements, { frameworkId: CSF, query });
    expect(found.requirements.map(({ refId }) => refId)).toEqual(["GV.OC-01"]);
    expect(found.totalSize).toBe(1);
    const { requirement } = await harness.call(getRequirement, { requirementId: found.requirements[0]!.id });
    expect(requirement).toMatchObject({ refId: "GV.OC-01", framework: { id: CSF }, assessable: true });
    expect(requirement?.referenceControls).toHaveLength(1);
    await refused(harness.call(getRequirement, { requirementId: CSF }), Code.NotFound, /requirement_id/);
  });

  test("maturity levels are told lowest first, and the scale alone where there are none", async () => {
    const { levels } = await harness.call(listMaturityLevels, { frameworkId: CSF });
    expect(levels.map(({ score, name }) => [score, name])[0]).toEqual([1, "Partial"]);
    const plain = await harness.call(listMaturityLevels, { frameworkId: ISO });
    expect(plain).toMatchObject({ levels: [], minScore: 0, maxScore: 100 });
  });

  test("reference controls are narrowed by category", async () => {
    const { referenceControls } = await harness.call(listReferenceControls, { category: ControlCategory.TECHNICAL });
    expect(referenceControls.length).toBeGreaterThan(0);
    expect(new Set(referenceControls.map(({ category }) => category))).toEqual(new Set([ControlCategory.TECHNICAL]));
  });
});

test("CVEs are found by identifier, score and exploitation, and read by identifier or id", async () => {
  const { listCves, getCve } = CveService.method;
  const all = await harness.call(listCves, {});
  expect(all.totalSize).toBe(10);
  const ids: string[] = [];
  let pageToken = "";
  do {
    const page = await harness.call(listCves, { minCvss: 9.8, pageSize: 2, pageToken });
    ids.push(...page.cves.map(({ refId }) => refId));
    expect(page.totalSizeIsLowerBound === true).toBe(page.nextPageToken !== undefined);
    pageToken = page.nextPageToken ?? "";
  } while (pageToken !== "");
  expect(ids).toEqual(all.cves.filter(({ cvss }) => (cvss ?? 0) >= 9.8).map(({ refId }) => refId));
  const harmless = all.cves.find(({ exploited }) => !exploited)!;
  const exploited = await harness.call(listCves, { exploitedOnly: true });
  expect(exploited.cves).toHaveLength(9);
  expect(exploited.cves.map(({ id }) => id)).not.toContain(harmless.id);
  // The platform also looks into vectors, where every one of them has these.
  for (const query of ["CVSS:", "av:n", "/ac"]) expect((await harness.call(listCves, { query })).cves).toEqual([]);
  const { cve } = await harness.call(getCve, { cveId: "cve-2014-0160" });
  expect(cve).toMatchObject({ refId: "CVE-2014-0160", cvss: 7.5, exploited: true });
  expect((await harness.call(getCve, { cveId: cve!.id })).cve?.refId).toBe("CVE-2014-0160");
  await refused(harness.call(getCve, { cveId: "CVE-1999-0001" }), Code.NotFound, /CVE-1999-0001/);
});

test("what risks cost is told of the tenant's studies, priced or not", async () => {
  const { listRiskQuantifications, getFinancialSummary, listQuantifiedScenarios } = QuantificationService.method;
  const { riskQuantifications } = await harness.call(listRiskQuantifications, {});
  expect(riskQuantifications.map(({ name }) => name)).toEqual(["Northwind losses 2027", "Northwind losses 2026"]);
  const quantificationId = riskQuantifications[1]!.id;
  const summary = await harness.call(getFinancialSummary, { quantificationId });
  expect(summary).toMatchObject({
    currency: "€",
    currentAnnualLoss: 1_805_500.25,
    residualAnnualLoss: 430_000.5,
    // Of the two with both losses: the third, of 75,500.25, is not treated, and nothing of it is saved.
    riskReduction: 1_299_999.5,
    selectedRiskReduction: 1_299_999.5,
    comparedCount: 2,
    treatmentCost: 135_000,
    staleCount: 1,
    lossThreshold: 1_000_000,
    scenarioCount: 4,
    pricedCount: 3,
  });
  expect(summary.scenarios[0]).toMatchObject({ current: { annualLoss: 1_250_000, aboveThreshold: 0.625 } });
  expect(summary.scenarios.map(({ residual }) => residual?.stale)).toEqual([undefined, true, undefined, undefined]);
  expect(summary.scenarios[3]?.current).toBeUndefined();
  const empty = await harness.call(getFinancialSummary, { quantificationId: riskQuantifications[0]!.id });
  expect([empty.scenarioCount, empty.currentAnnualLoss, empty.treatmentCost]).toEqual([0, undefined, undefined]);
  for (const asked of [{ quantificationId }, {}]) {
    const page = await harness.call(listQuantifiedScenarios, asked);
    // All belong to one study: it and the assets are named once.
    expect(page.quantification).toMatchObject({ id: quantificationId, name: "Northwind losses 2026" });
    expect(page.quantifiedScenarios.map(({ quantification }) => quantification)).toEqual(Array(4).fill(undefined));
    const hit = page.quantifiedScenarios.flatMap(({ assets }) => assets.map(({ id }) => id));
    expect(page.assets.map(({ id }) => id)).toEqual([...new Set(hit)]);
    expect(page.assets.every(({ name }) => name !== undefined && name !== "")).toBe(true);
    expect(hit.length).toBeGreaterThan(1);
  }
  const { quantifiedScenarios } = await harness.call(listQuantifiedScenarios, { quantificationId });
  expect(quantifiedScenarios).toHaveLength(4);
  expect(quantifiedScenarios.find(({ refId }) => refId === "QR.01")).toMatchObject({
    currentAnnualLoss: 1_250_000,
    residualAnnualLoss: 310_000.5,
    priority: 1,
    selected: true,
  });
  expect(quantifiedScenarios.filter(({ stale }) => stale).map(({ refId }) => refId)).toEqual(["QR.02"]);
  // Who may not see what was simulated is not told that nothing is stale.
  harness.sandbox.admit("half@sallyport.example", NORTHWIND, [
    "view_folder",
    "view_quantitativeriskstudy",
    "view_quantitativeriskscenario",
  ]);
  expect((await harness.call(getFinancialSummary, { quantificationId }, "half")).staleCount).toBeUndefined();
  const foreign = { quantificationId: seededId("crq/quantitative-risk-studies:baltic:0") };
  await refused(harness.call(getFinancialSummary, foreign), Code.NotFound, /quantification_id/);
});
