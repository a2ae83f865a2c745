import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AssessmentResult } from "#proto/grc/v1/assessment_pb.js";
import { AssessmentService } from "#proto/grc/v1/assessment_service_pb.js";
import { ControlOrder, ControlService, ControlStatus } from "#proto/grc/v1/control_service_pb.js";
import { CveService, VulnerabilitySeverity } from "#proto/grc/v1/cve_service_pb.js";
import { EvidenceService } from "#proto/grc/v1/evidence_service_pb.js";
import { QuantificationService } from "#proto/grc/v1/quantification_service_pb.js";
import { RiskOrder, RiskService } from "#proto/grc/v1/risk_service_pb.js";
import { seededId } from "../../../../../services/sandbox/grc/world.js";
import { type GrcHarness, startGrc } from "../../../../support/platforms/grc.js";
import { refusal } from "../../../../support/platforms/refusal.js";

// What an office asks: deadlines, prices, proof that expires, vulnerabilities
// with their assets, and what has become of an audit. test/truth/grc asks the
// same of the real platform.

let harness: GrcHarness;
beforeAll(async () => {
  harness = await startGrc("exchange");
});
afterAll(() => harness.close());

const TODAY = new Date().toISOString().slice(0, 10);

describe("vulnerabilities", () => {
  const { listVulnerabilities } = CveService.method;

  test("name their assets, each name once a page, and are narrowed by asset and severity", async () => {
    const all = await harness.call(listVulnerabilities, { pageSize: 100 }, "reader");
    expect(all.totalSize).toBe(all.vulnerabilities.length);
    const several = all.vulnerabilities.find(({ assets }) => assets.length > 1)!;
    const names = new Map(all.assets.map(({ id, name }) => [id, name]));
    expect(several.assets.map(({ id }) => names.get(id))).not.toContain(undefined);
    expect(several.assets[0]?.name).toBeUndefined();
    const assetId = several.assets[1]!.id;
    const ofAsset = await harness.call(listVulnerabilities, { assetId }, "reader");
    const meant = all.vulnerabilities.filter(({ assets }) => assets.some(({ id }) => id === assetId));
    expect(ofAsset.vulnerabilities).toEqual(meant);
    const severe = await harness.call(listVulnerabilities, { minSeverity: VulnerabilitySeverity.LOW }, "reader");
    expect(severe.vulnerabilities.map(({ id }) => id)).toEqual(
      all.vulnerabilities.filter(({ severity = 0 }) => severity >= VulnerabilitySeverity.LOW).map(({ id }) => id),
    );
  });

  test("of a CVE are those linked to it and those named after it", async () => {
    const all = await harness.call(listVulnerabilities, { pageSize: 100 }, "reader");
    const linked = all.vulnerabilities.find(({ cves }) => cves.length > 0)!;
    const [cveId] = linked.cves;
    const found = await harness.call(listVulnerabilities, { cveId: cveId!.toLowerCase() }, "reader");
    const meant = all.vulnerabilities.filter(({ cves, refId }) => cves.includes(cveId!) || refId === cveId);
    expect(found.vulnerabilities).toEqual(meant);
    const none = await harness.call(listVulnerabilities, { cveId: "CVE-1999-99999" }, "reader");
    expect(none.vulnerabilities).toEqual([]);
  });
});

describe("controls", () => {
  const { listControls, getControl } = ControlService.method;
  const every = async (more: object = {}) => {
    const rows = [];
    let pageToken = "";
    do {
      const page = await harness.call(listControls, { pageSize: 7, pageToken, ...more }, "reader");
      rows.push(...page.controls);
      pageToken = page.nextPageToken ?? "";
    } while (pageToken !== "");
    return rows;
  };

  test("are late if their day has passed and they are neither active nor deprecated", async () => {
    const done = [ControlStatus.ACTIVE, ControlStatus.DEPRECATED];
    const meant = (await every()).filter(
      ({ eta, status }) => eta !== undefined && eta < TODAY && !done.includes(status),
    );
    expect(meant.length).toBeGreaterThan(0);
    const late = await every({ lateOnly: true });
    expect(late.map(({ id }) => id)).toEqual(meant.map(({ id }) => id));
    const wrong = harness.call(listControls, { lateOnly: true, statuses: [ControlStatus.ACTIVE] }, "reader");
    expect(await refusal(wrong)).toMatchObject({ code: Code.InvalidArgument });
  });

  test("by due date come earliest first, and those without one last, over all pages", async () => {
    const rows = await every({ orderBy: ControlOrder.ETA });
    const days = rows.map(({ eta }) => eta ?? "none");
    expect(days).toEqual([...days].sort());
    expect(days).toContain("none");
    expect(new Set(rows.map(({ id }) => id)).size).toBe((await every()).length);
  });

  test("have a cost where one is recorded", async () => {
    const costOf = async (i: number) => {
      const controlId = seededId(`applied-controls:northwind:${i}`);
      return (await harness.call(getControl, { controlId }, "reader")).control?.cost;
    };
    expect(await costOf(6)).toMatchObject({ currency: "€", build: 7_000, buildDays: 1, run: 500, runDays: 2 });
    expect((await costOf(6))?.annual).toBe(7_000 + 500 + 500 + 1_000);
    expect(await costOf(1)).toBeUndefined();
  });
});

describe("evidence", () => {
  const { listEvidence } = EvidenceService.method;

  test("that expires before a day comes by that day, with its owners", async () => {
    const all = await harness.call(listEvidence, { pageSize: 100 }, "reader");
    const found = await harness.call(listEvidence, { expiresBefore: "2027-03-01", pageSize: 100 }, "reader");
    const meant = all.evidence.filter(({ expiryDate }) => expiryDate !== undefined && expiryDate < "2027-03-01");
    expect(found.totalSize).toBe(meant.length);
    const days = found.evidence.map(({ expiryDate }) => expiryDate!);
    expect(days).toEqual(meant.map(({ expiryDate }) => expiryDate!).sort());
    expect(found.evidence[0]?.owners[0]?.id).toBe(found.owners[0]?.id);
    const owned = await harness.call(listEvidence, { ownerId: found.owners[0]!.id, pageSize: 100 }, "reader");
    expect(owned.totalSize).toBe(all.evidence.filter(({ owners }) => owners.length > 0).length);
    const nobody = harness.call(listEvidence, { ownerId: seededId("nobody") }, "reader");
    expect(await refusal(nobody)).toMatchObject({ code: Code.NotFound });
  });

  test("of an audit is that of its requirements and of their controls", async () => {
    const { assessments } = await harness.call(AssessmentService.method.listAssessments, {}, "reader");
    const meant = new Set<string>();
    const { requirementAssessments: lines } = await harness.call(
      AssessmentService.method.listRequirementAssessments,
      { assessmentId: assessments[0]!.id, pageSize: 100 },
      "reader",
    );
    for (const { id } of lines.filter(({ controlCount, evidenceCount }) => controlCount || evidenceCount)) {
      const asked = { requirementAssessmentId: id };
      const read = await harness.call(AssessmentService.method.getRequirementAssessment, asked, "reader");
      for (const { id } of read.requirementAssessment!.evidence) meant.add(id);
      for (const { id: controlId } of read.requirementAssessment!.controls) {
        const { control } = await harness.call(ControlService.method.getControl, { controlId }, "reader");
        for (const { id } of control!.evidence) meant.add(id);
      }
    }
    const asked = { assessmentId: assessments[0]!.id, pageSize: 100 };
    const { evidence } = await harness.call(listEvidence, asked, "reader");
    expect(evidence.map(({ id }) => id).sort()).toEqual([...meant].sort());
  });
});

describe("risks", () => {
  const { listRiskScenarios, getRiskScenario } = RiskService.method;

  test("of an asset are those that name it, worst first if that is asked for, with counts by level", async () => {
    const { riskScenarios: some } = await harness.call(listRiskScenarios, { pageSize: 100 }, "reader");
    const assetId = some[0]!.assets[0]!.id;
    const page = await harness.call(
      listRiskScenarios,
      { assetId, orderBy: RiskOrder.CURRENT_LEVEL, withCounts: true, pageSize: 100 },
      "reader",
    );
    const levels = page.riskScenarios.map(({ current }) => current?.level?.value ?? -1);
    expect(levels).toEqual([...levels].sort((a, b) => b - a));
    for (const { assets } of page.riskScenarios) expect(assets.map(({ id }) => id)).toContain(assetId);
    for (const { level, current } of page.levelCounts) {
      expect(current).toBe(levels.filter((one) => one === (level?.value ?? -1)).length);
    }
    const { riskScenario } = await harness.call(
      getRiskScenario,
      { riskScenarioId: page.riskScenarios[0]!.id },
      "reader",
    );
    expect(riskScenario?.assets.map(({ id }) => id)).toContain(assetId);
  });

  test("that are priced come costliest first over all studies, unpriced ones last", async () => {
    const costs: number[] = [];
    let pageToken = "";
    do {
      const asked = { costliestFirst: true, pageSize: 2, pageToken };
      const page = await harness.call(QuantificationService.method.listQuantifiedScenarios, asked, "reader");
      costs.push(...page.quantifiedScenarios.map((one) => one.currentAnnualLoss ?? -1));
      pageToken = page.nextPageToken ?? "";
    } while (pageToken !== "");
    expect(costs.length).toBeGreaterThan(2);
    expect(costs).toEqual([...costs].sort((a, b) => b - a));
  });
});

describe("an audit", () => {
  const { listAssessments, getAssessment, listRequirementAssessments, listAssessmentDifferences } =
    AssessmentService.method;
  const linesOf = async (assessmentId: string) => {
    const rows = [];
    let pageToken = "";
    do {
      const page = await harness.call(listRequirementAssessments, { assessmentId, pageSize: 100, pageToken }, "reader");
      rows.push(...page.requirementAssessments);
      pageToken = page.nextPageToken ?? "";
    } while (pageToken !== "");
    return rows;
  };

  test("says how many requirements have which result, and how many of those that apply are met", async () => {
    const { assessments } = await harness.call(listAssessments, {}, "reader");
    for (const { id: assessmentId } of assessments) {
      const { assessment } = await harness.call(getAssessment, { assessmentId }, "reader");
      const lines = await linesOf(assessmentId);
      expect(assessment?.requirementCount).toBe(lines.length);
      for (const { result, count } of assessment!.results) {
        expect(count).toBe(lines.filter((line) => line.result === result).length);
      }
      const applicable = lines.filter(({ result }) => result !== AssessmentResult.NOT_APPLICABLE).length;
      const met = lines.filter(({ result }) => result === AssessmentResult.COMPLIANT).length;
      expect(assessment?.compliantPercent).toBeCloseTo((met / applicable) * 100, 0);
    }
  });

  test("is joined with another of its framework by requirement, and not with one of another framework", async () => {
    const { assessments } = await harness.call(listAssessments, {}, "reader");
    const [base] = assessments;
    const twin = assessments.find(({ id, framework }) => id !== base!.id && framework?.id === base!.framework?.id);
    const other = assessments.find(({ framework }) => framework?.id !== base!.framework?.id)!;
    const asked = { baseAssessmentId: base!.id, assessmentId: other.id };
    expect(await refusal(harness.call(listAssessmentDifferences, asked, "reader"))).toMatchObject({
      code: Code.FailedPrecondition,
    });
    const second = (twin ?? base)!.id;
    const [before, after] = [await linesOf(base!.id), await linesOf(second)];
    const page = await harness.call(
      listAssessmentDifferences,
      { baseAssessmentId: base!.id, assessmentId: second, withUnchanged: true, pageSize: 100 },
      "reader",
    );
    const { betterCount, worseCount, changedCount, sameCount, onlyInBaseCount, onlyInOtherCount } = page;
    expect(betterCount + worseCount + changedCount + sameCount + onlyInBaseCount).toBe(before.length);
    expect(page.totalSize).toBe(before.length + onlyInOtherCount);
    for (const row of page.requirements) {
      if (row.base) expect(row.base.result).toBe(before.find(({ id }) => id === row.base!.id)!.result);
      if (row.other) expect(row.other.result).toBe(after.find(({ id }) => id === row.other!.id)!.result);
    }
  });
});

test("a day that no calendar has is refused by the name of its argument, and nothing is written", async () => {
  const { listControls, createControl } = ControlService.method;
  const { listEvidence, createEvidence } = EvidenceService.method;
  const wrong = (argument: string) => ({
    code: Code.InvalidArgument,
    rawMessage: expect.stringMatching(new RegExp(`^${argument}: there is no such day`)),
  });
  for (const day of ["2026-02-30", "2026-13-01", "0000-01-01"]) {
    expect(await refusal(harness.call(listControls, { dueBefore: day }, "reader"))).toMatchObject(wrong("due_before"));
    const expiring = harness.call(listEvidence, { expiresBefore: day }, "reader");
    expect(await refusal(expiring)).toMatchObject(wrong("expires_before"));
    expect(await refusal(harness.call(createControl, { name: "No day", eta: day }))).toMatchObject(wrong("eta"));
    const proof = harness.call(createEvidence, { name: "No day", expiryDate: day });
    expect(await refusal(proof)).toMatchObject(wrong("expiry_date"));
  }
  expect((await harness.call(listControls, { query: '"No day"' }, "reader")).totalSize).toBe(0);
  expect((await harness.call(listControls, { dueBefore: "2028-02-29" }, "reader")).totalSize).toBeGreaterThan(0);
});

test("the pages of one comparison are of one reading of the audits", async () => {
  const { listAssessments, listAssessmentDifferences } = AssessmentService.method;
  const { assessments } = await harness.call(listAssessments, {}, "reader");
  const of = {
    baseAssessmentId: assessments[0]!.id,
    assessmentId: assessments[0]!.id,
    withUnchanged: true,
    pageSize: 2,
  };
  const trees = () => harness.done("reader").filter((one) => one.endsWith("/tree/")).length;
  const before = trees();
  const first = await harness.call(listAssessmentDifferences, of, "reader");
  expect(trees()).toBe(before + 2);
  const pageToken = first.nextPageToken!;
  const second = await harness.call(listAssessmentDifferences, { ...of, pageToken }, "reader");
  expect(trees()).toBe(before + 2);
  expect(second.requirements.map(({ base }) => base!.id)).not.toEqual(first.requirements.map(({ base }) => base!.id));
  // Whoever begins anew is told how things are by now.
  await harness.call(listAssessmentDifferences, of, "reader");
  expect(trees()).toBe(before + 4);
});

test("a page of a comparison hides what an audit has hidden since the page before", async () => {
  const { listAssessments, listAssessmentDifferences } = AssessmentService.method;
  const { assessments } = await harness.call(listAssessments, {}, "reader");
  const { id } = assessments[0]!;
  const of = { baseAssessmentId: id, assessmentId: id, withUnchanged: true, pageSize: 2 };
  const { nextPageToken: pageToken = "" } = await harness.call(listAssessmentDifferences, of, "reader");
  const results = async () => {
    const { requirements } = await harness.call(listAssessmentDifferences, { ...of, pageToken }, "reader");
    return requirements.map(({ base }) => base!.result);
  };
  const shown = await results();
  expect(shown).not.toContain(AssessmentResult.UNSPECIFIED);
  const hidden = { auditor: "hidden", respondent: "hidden" };
  const show = (result: object) =>
    harness.ask("admin", "PATCH", `/api/compliance-assessments/${id}/`, { field_visibility: { result } });
  await show(hidden);
  try {
    expect(await results()).toEqual(shown.map(() => AssessmentResult.UNSPECIFIED));
  } finally {
    await show({ auditor: "edit", respondent: "edit" });
  }
  expect(await results()).toEqual(shown);
});

test("an answer to words says what they were not looked for in, on the first page", async () => {
  const asked = { query: "policy", pageSize: 1 };
  const first = await harness.call(ControlService.method.listControls, asked, "reader");
  expect(first.notSearched).toMatch(/list_reference_controls/);
  const { nextPageToken: pageToken = "" } = first;
  const second = await harness.call(ControlService.method.listControls, { ...asked, pageToken }, "reader");
  expect(second.notSearched).toBeUndefined();
  expect((await harness.call(ControlService.method.listControls, {}, "reader")).notSearched).toBeUndefined();
});
