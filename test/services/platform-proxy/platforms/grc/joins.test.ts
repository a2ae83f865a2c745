import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AssessmentResult } from "#proto/grc/v1/assessment_pb.js";
import { AssessmentService, RequirementStatus } from "#proto/grc/v1/assessment_service_pb.js";
import { ControlOrder, ControlService, ControlStatus } from "#proto/grc/v1/control_service_pb.js";
import { CveService, VulnerabilityStatus } from "#proto/grc/v1/cve_service_pb.js";
import { EvidenceService } from "#proto/grc/v1/evidence_service_pb.js";
import { RiskService } from "#proto/grc/v1/risk_service_pb.js";
import { type GrcHarness, startGrc } from "../../../../support/platforms/grc.js";
import { refusal } from "../../../../support/platforms/refusal.js";

// What people ask that takes objects of two kinds: money by domain, risks that wait
// for controls, what rests on a piece of evidence, and what is left to do.

let harness: GrcHarness;
beforeAll(async () => {
  harness = await startGrc("exchange");
});
afterAll(() => harness.close());

const { listControls, getControl, createControl, updateControl, deleteControl } = ControlService.method;
const { listRiskScenarios, getRiskScenario } = RiskService.method;
const {
  listAssessments,
  getAssessment,
  listRequirementAssessments,
  getRequirementAssessment,
  updateRequirementAssessment,
  setRequirementEvidence,
  listAssessmentDifferences,
} = AssessmentService.method;
const { listEvidence, getEvidence } = EvidenceService.method;

const everyControl = async (more: object = {}) => {
  const rows = [];
  let pageToken = "";
  do {
    const page = await harness.call(listControls, { pageSize: 9, pageToken, ...more }, "reader");
    rows.push(...page.controls);
    pageToken = page.nextPageToken ?? "";
  } while (pageToken !== "");
  return rows;
};
const isOpen = ({ status }: { readonly status: ControlStatus }) =>
  status !== ControlStatus.ACTIVE && status !== ControlStatus.DEPRECATED;

describe("controls", () => {
  test("that are not finished have any status but two, or none", async () => {
    const meant = (await everyControl()).filter(isOpen);
    const open = await everyControl({ unfinishedOnly: true });
    expect(open.map(({ id }) => id)).toEqual(meant.map(({ id }) => id));
    expect(open.length).toBeGreaterThan(0);
    const wrong = harness.call(listControls, { unfinishedOnly: true, statuses: [ControlStatus.ACTIVE] }, "reader");
    expect(await refusal(wrong)).toMatchObject({ code: Code.InvalidArgument });
  });

  test("have the cost in rows that each has by itself, and totals by domain over all pages", async () => {
    const { costTotals, controls: first } = await harness.call(listControls, { withCost: true, pageSize: 3 }, "reader");
    expect(first).toHaveLength(3);
    const rows = await everyControl({ withCost: true });
    const totals = new Map<string, number[]>();
    for (const { id, cost } of rows) {
      const { control } = await harness.call(getControl, { controlId: id }, "reader");
      expect(cost).toEqual(control!.cost);
      const of = totals.get(control!.domain!.id) ?? [0, 0, 0, 0, 0];
      const more = cost === undefined ? [0, 1, 0, 0, 0] : [1, 0, cost.build, cost.run, cost.annual];
      totals.set(
        control!.domain!.id,
        of.map((one, i) => one + more[i]!),
      );
    }
    expect(rows.some(({ cost }) => cost !== undefined)).toBe(true);
    const told = costTotals.map((one) => [
      one.domain!.id,
      [one.pricedCount, one.unpricedCount, one.build, one.run, one.annual],
    ]);
    expect(new Map(told as [string, number[]][])).toEqual(totals);
    const byCost = await everyControl({ orderBy: ControlOrder.COST, withCost: true });
    const costs = byCost.map(({ cost }) => cost?.annual ?? -1);
    expect(costs).toEqual([...costs].sort((a, b) => b - a));
    expect(byCost).toHaveLength(rows.length);
  });

  test("take a cost, of which an update keeps what it does not name", async () => {
    const { control } = await harness.call(createControl, { name: "Priced", buildCost: 1_000, currency: "$" });
    const controlId = control!.id;
    expect(control?.cost).toMatchObject({ build: 1_000, run: 0, currency: "$", amortizationYears: 1, annual: 1_000 });
    const after = await harness.call(updateControl, { controlId, runCost: 30.5, amortizationYears: 4 });
    expect(after.control?.cost).toMatchObject({ build: 1_000, run: 30.5, currency: "$", annual: 280.5 });
    const same = await harness.call(updateControl, { controlId, name: "Priced still" });
    expect(same.control?.cost).toEqual(after.control?.cost);
    const none = await harness.call(updateControl, { controlId, buildCost: 0, runCost: 0 });
    expect(none.control?.cost).toBeUndefined();
    for (const wrong of [{ buildCost: -1 }, { amortizationYears: 0 }, { runCost: Number.NaN }]) {
      expect(await refusal(harness.call(updateControl, { controlId, ...wrong }))).toMatchObject({
        code: Code.InvalidArgument,
      });
    }
    await harness.call(deleteControl, { controlId });
  });

  test("name the risk scenarios that they reduce, and are found by one", async () => {
    const page = await harness.call(listControls, { withRiskScenarios: true, pageSize: 100 }, "reader");
    const names = new Map(page.riskScenarios.map(({ id, name }) => [id, name]));
    const linked = page.controls.find(({ riskScenarios }) => riskScenarios.length > 1)!;
    const found = await harness.call(listRiskScenarios, { controlId: linked.id, pageSize: 100 }, "reader");
    expect(linked.riskScenarios.map(({ id }) => id).sort()).toEqual(found.riskScenarios.map(({ id }) => id).sort());
    for (const { id, name } of found.riskScenarios) expect(names.get(id)).toBe(name);
    const [{ id: riskScenarioId } = { id: "" }] = found.riskScenarios;
    const { riskScenario } = await harness.call(getRiskScenario, { riskScenarioId }, "reader");
    const reducing = [...riskScenario!.controls, ...riskScenario!.existingControls].map(({ id }) => id);
    const of = await harness.call(listControls, { riskScenarioId, pageSize: 100 }, "reader");
    expect(of.controls.map(({ id }) => id).sort()).toEqual([...new Set(reducing)].sort());
  });
});

test("risks name their owners, and say how many of their planned controls are not finished", async () => {
  const page = await harness.call(listRiskScenarios, { withOpenControls: true, pageSize: 100 }, "reader");
  const owned = page.riskScenarios.filter(({ owners }) => owners.length > 0);
  expect(owned.length).toBeGreaterThan(0);
  expect(owned.length).toBeLessThan(page.riskScenarios.length);
  const [ownerId] = owned[0]!.owners.map(({ id }) => id);
  expect(page.owners.find(({ id }) => id === ownerId)?.name).toBeTruthy();
  const ofOwner = await harness.call(listRiskScenarios, { ownerId, pageSize: 100 }, "reader");
  expect(ofOwner.totalSize).toBe(owned.filter(({ owners }) => owners.some(({ id }) => id === ownerId)).length);
  const open = new Set((await everyControl()).filter(isOpen).map(({ id }) => id));
  const counts = new Set<number | undefined>();
  for (const { id: riskScenarioId, openControlCount } of page.riskScenarios.slice(0, 8)) {
    const { riskScenario } = await harness.call(getRiskScenario, { riskScenarioId }, "reader");
    expect(openControlCount).toBe(riskScenario!.controls.filter(({ id }) => open.has(id)).length);
    counts.add(openControlCount);
  }
  expect(counts).toEqual(new Set([0, 1]));
  const plain = await harness.call(listRiskScenarios, { pageSize: 1 }, "reader");
  expect(plain.riskScenarios[0]?.openControlCount).toBeUndefined();
});

describe("requirement assessments", () => {
  const auditId = async () => (await harness.call(listAssessments, {}, "reader")).assessments[0]!.id;

  test("are found by the evidence that they rest on", async () => {
    const [proof] = (await harness.call(listEvidence, {})).evidence;
    const asked = { assessmentId: await auditId(), pageSize: 3 };
    const lines = (await harness.call(listRequirementAssessments, asked)).requirementAssessments;
    for (const { id: requirementAssessmentId } of lines.slice(1)) {
      await harness.call(setRequirementEvidence, { requirementAssessmentId, evidenceIds: [proof!.id] });
    }
    const found = await harness.call(listRequirementAssessments, { evidenceId: proof!.id, pageSize: 100 }, "reader");
    const meant = lines.slice(1).map(({ id }) => id);
    expect(found.requirementAssessments.map(({ id }) => id)).toEqual(meant);
    expect(found.requirementAssessments[0]?.assessment?.id).toBeTruthy();
  });

  test("are found by the status of the work, which their rows say", async () => {
    const assessmentId = await auditId();
    const all = (await harness.call(listRequirementAssessments, { assessmentId, pageSize: 100 }, "reader"))
      .requirementAssessments;
    const [one] = all;
    const asked = { requirementAssessmentId: one!.id, status: RequirementStatus.IN_REVIEW };
    await harness.call(updateRequirementAssessment, asked);
    const found = await harness.call(
      listRequirementAssessments,
      { assessmentId, statuses: [RequirementStatus.IN_REVIEW], pageSize: 100 },
      "reader",
    );
    const meant = all.filter(({ id, status }) => id === one!.id || status === RequirementStatus.IN_REVIEW);
    expect(found.requirementAssessments.map(({ id }) => id)).toEqual(meant.map(({ id }) => id));
    expect(found.totalSize).toBe(meant.length);
    for (const { status } of found.requirementAssessments) expect(status).toBe(RequirementStatus.IN_REVIEW);
    const read = await harness.call(getRequirementAssessment, { requirementAssessmentId: one!.id }, "reader");
    expect(read.requirementAssessment?.status).toBe(RequirementStatus.IN_REVIEW);
    const everywhere = harness.call(listRequirementAssessments, { statuses: [RequirementStatus.DONE] }, "reader");
    expect(await refusal(everywhere)).toMatchObject({ code: Code.InvalidArgument });
  });

  test("of two audits are narrowed by what the earlier one found", async () => {
    const assessmentId = await auditId();
    const asked = { baseAssessmentId: assessmentId, assessmentId, withUnchanged: true, pageSize: 100 };
    const all = await harness.call(listAssessmentDifferences, asked, "reader");
    const baseResults = [AssessmentResult.NON_COMPLIANT, AssessmentResult.PARTIALLY_COMPLIANT];
    const some = await harness.call(listAssessmentDifferences, { ...asked, baseResults }, "reader");
    const meant = all.requirements.filter(({ base }) => baseResults.includes(base!.result));
    expect(some.requirements).toEqual(meant);
    expect(some.totalSize).toBe(meant.length);
    expect(some.sameCount).toBe(all.sameCount);
  });

  test("of an audit that shows no scores are counted without reading each", async () => {
    const { assessments } = await harness.call(listAssessments, {}, "reader");
    const counted = [];
    for (const { id: assessmentId } of assessments) {
      const before = harness.done("reader").length;
      const { assessment } = await harness.call(getAssessment, { assessmentId }, "reader");
      const asked = harness.done("reader").slice(before);
      expect(asked.some((one) => one.endsWith("/tree/"))).toBe(assessment?.scoredCount !== undefined);
      counted.push(assessment?.scoredCount);
    }
    expect(counted).toContain(undefined);
  });
});

test("evidence with neither a file nor a link is found, and rows say which has a link", async () => {
  const all = (await harness.call(listEvidence, { pageSize: 100 }, "reader")).evidence;
  const empty = all.filter(({ fileName, hasLink }) => fileName === undefined && hasLink !== true);
  const found = await harness.call(listEvidence, { emptyOnly: true, pageSize: 100 }, "reader");
  expect(found.evidence.map(({ id }) => id)).toEqual(empty.map(({ id }) => id));
  expect(empty.length).toBeGreaterThan(0);
  for (const { id: evidenceId, hasLink } of all.slice(0, 10)) {
    const { evidence } = await harness.call(getEvidence, { evidenceId }, "reader");
    expect(evidence?.link !== undefined).toBe(hasLink === true);
  }
});

test("vulnerabilities that are open have three statuses, and the overdue ones a day that has passed", async () => {
  const { listVulnerabilities } = CveService.method;
  const all = (await harness.call(listVulnerabilities, { pageSize: 100 }, "reader")).vulnerabilities;
  const OPEN = [undefined, VulnerabilityStatus.POTENTIAL, VulnerabilityStatus.EXPLOITABLE];
  const open = await harness.call(listVulnerabilities, { openOnly: true, pageSize: 100 }, "reader");
  const meant = all.filter(({ status }) => OPEN.includes(status || undefined));
  expect(open.vulnerabilities.map(({ id }) => id)).toEqual(meant.map(({ id }) => id));
  const overdue = await harness.call(listVulnerabilities, { overdueOnly: true, pageSize: 100 }, "reader");
  expect(overdue.vulnerabilities.map(({ id }) => id)).toEqual(
    all.filter((one) => one.overdue === true).map(({ id }) => id),
  );
  const wrong = harness.call(listVulnerabilities, { openOnly: true, statuses: [VulnerabilityStatus.FIXED] }, "reader");
  expect(await refusal(wrong)).toMatchObject({ code: Code.InvalidArgument });
});
