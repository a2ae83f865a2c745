import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AssessmentResult, AssessmentStatus } from "#proto/grc/v1/assessment_pb.js";
import { AssessmentService, RequirementStatus } from "#proto/grc/v1/assessment_service_pb.js";
import { ControlService } from "#proto/grc/v1/control_service_pb.js";
import { EvidenceService } from "#proto/grc/v1/evidence_service_pb.js";
import { FrameworkService } from "#proto/grc/v1/framework_service_pb.js";
import { RiskService, RiskTreatment } from "#proto/grc/v1/risk_service_pb.js";
import { seededId } from "../../../../../services/sandbox/grc/world.js";
import { type GrcHarness, startGrc } from "../../../../support/platforms/grc.js";

const requirement = (ref: string, audit = "northwind:csf") => seededId(`requirement-assessments:${audit}:${ref}`);
const SHOWN = requirement("4.1", "northwind:iso");

let harness: GrcHarness;
beforeAll(async () => {
  harness = await startGrc("bearer");
});
afterAll(() => harness.close());

const refused = (call: Promise<unknown>, code: Code, words: RegExp) =>
  expect(call).rejects.toMatchObject({ code, rawMessage: expect.stringMatching(words) });

describe("audits", () => {
  const { listAssessments, getAssessment, getAssessmentMaturity } = AssessmentService.method;

  test("are listed with those of third parties, which say that they are", async () => {
    const { assessments, totalSize } = await harness.call(listAssessments, {});
    expect(totalSize).toBe(4);
    expect(assessments.filter(({ thirdParty }) => thirdParty).map(({ name }) => name)).toEqual([
      "Kestrel Hosting review",
    ]);
    expect(assessments.filter(({ locked }) => locked).map(({ status }) => status)).toEqual([AssessmentStatus.DONE]);
    const frameworkId = seededId("frameworks:iso27001-2022");
    expect((await harness.call(listAssessments, { frameworkId })).totalSize).toBe(2);
    expect((await harness.call(listAssessments, { status: AssessmentStatus.DONE })).totalSize).toBe(1);
  });

  test("are read with what they cover, and their maturity where something is scored", async () => {
    const assessmentId = seededId("compliance-assessments:northwind:supplier");
    const { assessment } = await harness.call(getAssessment, { assessmentId });
    expect(assessment).toMatchObject({ thirdParty: true, scoresVisible: false });
    // The group under the reference that requirements have, and the framework under its own name.
    const { getFramework } = FrameworkService.method;
    const { framework } = await harness.call(getFramework, { frameworkId: assessment!.framework!.id });
    expect(framework!.groups.filter(({ name }) => name === "Clauses").map(({ refId }) => refId)).toEqual(
      assessment!.groups,
    );
    expect(assessment!.framework).toEqual(expect.objectContaining({ id: framework!.id, name: framework!.name }));
    const none = await harness.call(getAssessmentMaturity, { assessmentId });
    expect(none).toMatchObject({ minScore: 0, maxScore: 100 });
    expect(none.score).toBeUndefined();
    const scored = await harness.call(getAssessmentMaturity, {
      assessmentId: seededId("compliance-assessments:northwind:csf"),
    });
    expect(scored.score).toBeGreaterThan(1);
    expect(["Partial", "Risk informed", "Repeatable", "Adaptive"]).toContain(scored.level);
    const foreign = { assessmentId: seededId("compliance-assessments:baltic:csf") };
    await refused(harness.call(getAssessment, foreign), Code.NotFound, /assessment_id/);
    await refused(harness.call(getAssessmentMaturity, foreign), Code.NotFound, /assessment_id/);
  });
});

describe("requirement assessments", () => {
  test("are found by the words of their requirement, and not by its URN, where all have the word risk", async () => {
    const { listRequirementAssessments } = AssessmentService.method;
    const query = `compliance_assessment=${seededId("compliance-assessments:northwind:csf")}&requirement__assessable=true`;
    const { results } = (await harness.ask("admin", "GET", `/api/requirement-assessments/?${query}`)) as unknown as {
      readonly results: readonly {
        readonly id: string;
        readonly requirement: Readonly<Record<"ref_id" | "name" | "description", string | null>>;
      }[];
    };
    const expected = results.filter(({ requirement: { ref_id, name, description } }) =>
      `${ref_id} ${name} ${description}`.toLowerCase().includes("risk"),
    );
    expect(expected.length).toBeLessThan(results.length);
    const assessmentId = seededId("compliance-assessments:northwind:csf");
    const found = await harness.call(listRequirementAssessments, { assessmentId, query: "RISK", pageSize: 100 });
    expect(found.totalSize).toBe(expected.length);
    expect(found.totalSize).toBeGreaterThan(0);
    expect(new Set(found.requirementAssessments.map(({ id }) => id))).toEqual(new Set(expected.map(({ id }) => id)));
    const byReference = await harness.call(listRequirementAssessments, { assessmentId, query: "gv.oc-01" });
    expect(byReference.requirementAssessments.map(({ requirement: { refId } = {} }) => refId)).toEqual(["GV.OC-01"]);
    for (const query of ["urn:", "risk:framework", "sallyport"]) {
      expect((await harness.call(listRequirementAssessments, { query })).totalSize).toBe(0);
    }
    // An auditee finds among what is assigned.
    const own = await harness.call(listRequirementAssessments, {}, "auditee");
    const word = own.requirementAssessments[0]!.requirement!.name.split(" ")[0]!;
    const again = await harness.call(listRequirementAssessments, { query: word }, "auditee");
    expect(again.totalSize).toBeGreaterThan(0);
    expect(again.totalSize).toBeLessThanOrEqual(own.totalSize);
  });
  const { getRequirementAssessment, updateRequirementAssessment, setRequirementControls, setRequirementEvidence } =
    AssessmentService.method;

  test("take result, status, score and remark, and keep what is not given", async () => {
    const { requirementAssessment: first } = await harness.call(updateRequirementAssessment, {
      requirementAssessmentId: SHOWN,
      result: AssessmentResult.PARTIALLY_COMPLIANT,
      status: RequirementStatus.IN_PROGRESS,
      score: 40,
      observation: "Half there",
    });
    expect(first).toMatchObject({
      result: AssessmentResult.PARTIALLY_COMPLIANT,
      status: RequirementStatus.IN_PROGRESS,
      maturity: { score: 40 },
      observation: "Half there",
    });
    const { requirementAssessment: second } = await harness.call(updateRequirementAssessment, {
      requirementAssessmentId: SHOWN,
      status: RequirementStatus.DONE,
      observation: "",
    });
    expect(second).toMatchObject({ result: AssessmentResult.PARTIALLY_COMPLIANT, maturity: { score: 40 } });
    expect(second?.observation).toBeUndefined();
  });

  test("are refused where nothing would come of it, and a field that the audit closes is named", async () => {
    const call = (requirementAssessmentId: string, more: object, as?: string) =>
      harness.call(updateRequirementAssessment, { requirementAssessmentId, ...more }, as);
    await refused(call(SHOWN, { score: 900 }), Code.InvalidArgument, /score: must be between 0 and 100/);
    const heading = requirement("GV.OC");
    await refused(call(heading, { result: AssessmentResult.COMPLIANT }), Code.FailedPrecondition, /heading/);
    const outside = requirement("A.5.1", "northwind:supplier");
    await refused(
      call(outside, { result: AssessmentResult.COMPLIANT }),
      Code.FailedPrecondition,
      /implementation groups/,
    );
    const given = requirement("GV.OC-01");
    const both = { result: AssessmentResult.COMPLIANT, status: RequirementStatus.DONE };
    const asked = { requirementAssessmentId: given };
    const before = (await harness.call(getRequirementAssessment, asked, "auditee")).requirementAssessment!;
    expect(before.closedArguments).toContain("status");
    await refused(call(given, both, "auditee"), Code.FailedPrecondition, /^status: .*nothing was written/);
    const after = (await harness.call(getRequirementAssessment, asked, "auditee")).requirementAssessment!;
    expect(after).toEqual(before);
    const controlId = seededId("applied-controls:northwind:70");
    await harness.call(setRequirementControls, { requirementAssessmentId: given, controlIds: [controlId] });
    const score = { controlId, requirementAssessmentId: given, score: 10 };
    await refused(
      harness.call(ControlService.method.setControlMaturity, score, "auditee"),
      Code.FailedPrecondition,
      /^score: .*nothing was written/,
    );
    const open = (await harness.call(getRequirementAssessment, asked)).requirementAssessment!;
    expect(open.closedArguments).toEqual([]);
    expect(open.maturity?.score).toBeUndefined();
    await refused(
      call(given, { result: AssessmentResult.COMPLIANT }, "reader"),
      Code.PermissionDenied,
      /not change it/,
    );
    const locked = requirement("GV.OC-01", "northwind:locked");
    await refused(call(locked, { observation: "Late" }), Code.FailedPrecondition, /locked/);
  });

  test("take a set of evidence in place of the one there, and one more piece beside it", async () => {
    const [one, two] = [4, 5].map((i) => seededId(`evidences:northwind:${i}`)) as [string, string];
    const set = await harness.call(setRequirementEvidence, { requirementAssessmentId: SHOWN, evidenceIds: [one] });
    expect(set.requirementAssessment?.evidence.map(({ id }) => id)).toEqual([one]);
    const { attachEvidence } = EvidenceService.method;
    const added = await harness.call(attachEvidence, { evidenceId: two, requirementAssessmentId: SHOWN });
    expect(added).toMatchObject({ evidenceCount: 2, attachedTo: { id: SHOWN } });
    const again = await harness.call(attachEvidence, { evidenceId: two, requirementAssessmentId: SHOWN });
    expect(again).toMatchObject({ evidenceCount: 2, alreadyAttached: true });
    const control = seededId("applied-controls:northwind:70");
    const onControl = await harness.call(attachEvidence, { evidenceId: two, controlId: control });
    expect(onControl).toMatchObject({ evidenceCount: 1, attachedTo: { id: control } });
    const clear = { requirementAssessmentId: SHOWN, clearEvidences: true };
    expect((await harness.call(setRequirementEvidence, clear)).requirementAssessment?.evidence).toEqual([]);
    const foreign = { evidenceId: seededId("evidences:baltic:4"), requirementAssessmentId: SHOWN };
    await refused(harness.call(attachEvidence, foreign), Code.NotFound, /evidence_id/);
    const { deleted } = await harness.call(EvidenceService.method.deleteEvidence, { evidenceId: two });
    expect(deleted?.id).toBe(two);
    await refused(harness.call(EvidenceService.method.getEvidence, { evidenceId: two }), Code.NotFound, /evidence_id/);
  });
});

describe("risk scenarios", () => {
  const { listRiskAssessments, createRiskScenario, updateRiskScenario, deleteRiskScenario, getRiskScenario } =
    RiskService.method;

  test("are created in an assessment of the tenant, rated, changed in part and deleted", async () => {
    const { riskAssessments, totalSize } = await harness.call(listRiskAssessments, {});
    expect(totalSize).toBe(4);
    expect(riskAssessments.map(({ scenarioCount }) => scenarioCount)).toContain(2);
    const riskAssessmentId = seededId("risk-assessments:northwind:0");
    const control = seededId("applied-controls:northwind:0");
    const asset = seededId("assets:northwind:0");
    const { riskScenario } = await harness.call(createRiskScenario, {
      riskAssessmentId,
      name: "Payment switch fails",
      currentProbability: 3,
      currentImpact: 4,
      assetIds: [asset],
      controlIds: [control],
    });
    expect(riskScenario).toMatchObject({
      treatment: RiskTreatment.OPEN,
      riskAssessment: { id: riskAssessmentId },
      current: { probability: { value: 3 }, level: { value: 4 } },
      assets: [{ id: asset }],
      controls: [{ id: control }],
    });
    expect(riskScenario?.residual?.level).toBeUndefined();
    const id = { riskScenarioId: riskScenario!.id };
    const changed = await harness.call(updateRiskScenario, {
      ...id,
      treatment: RiskTreatment.MITIGATE,
      residualProbability: 0,
      residualImpact: 4,
      justification: "Agreed",
      clearControls: true,
      existingControlIds: [control],
    });
    expect(changed.riskScenario).toMatchObject({
      name: "Payment switch fails",
      treatment: RiskTreatment.MITIGATE,
      residual: { level: { value: 2 } },
      justification: "Agreed",
      controls: [],
      existingControls: [{ id: control }],
      assets: [{ id: asset }],
    });
    await refused(harness.call(updateRiskScenario, { ...id, currentImpact: 9 }), Code.InvalidArgument, /scale/);
    await refused(harness.call(deleteRiskScenario, id, "reader"), Code.PermissionDenied, /not change it/);
    expect((await harness.call(deleteRiskScenario, id)).deleted?.name).toBe("Payment switch fails");
    await refused(harness.call(getRiskScenario, id), Code.NotFound, /risk_scenario_id/);
    const foreign = { riskAssessmentId: seededId("risk-assessments:baltic:0"), name: "Not ours" };
    await refused(harness.call(createRiskScenario, foreign), Code.NotFound, /risk_assessment_id/);
  });

  test("are not created outside the matrix, nor in a locked assessment, and the lists stay whole", async () => {
    const { listRiskScenarios } = RiskService.method;
    const riskAssessmentId = seededId("risk-assessments:northwind:1");
    const before = (await harness.call(listRiskScenarios, {})).totalSize;
    // Of a pair, the platform stores one alone that is outside, and then lists nothing any more.
    for (const rated of [
      { currentProbability: 5 },
      { inherentImpact: 19 },
      { residualImpact: 5, residualProbability: 1 },
    ]) {
      const outside = harness.call(createRiskScenario, { riskAssessmentId, name: "Outside", ...rated });
      await refused(outside, Code.InvalidArgument, /(probability|impact): is outside its scale; .* 0 to 4/);
    }
    const closed = { riskAssessmentId: seededId("risk-assessments:baltic:2"), name: "Late" };
    const locked = harness.call(createRiskScenario, closed, "manager");
    await refused(locked, Code.FailedPrecondition, /risk_assessment_id: the risk assessment is locked/);
    expect((await harness.call(listRiskScenarios, {})).totalSize).toBe(before);
  });

  test("are not deleted from a locked assessment: the platform itself would", async () => {
    const { listRiskScenarios, getRiskScenario, deleteRiskScenario } = RiskService.method;
    const riskAssessmentId = seededId("risk-assessments:baltic:2");
    const { riskScenarios } = await harness.call(listRiskScenarios, { riskAssessmentId }, "manager");
    const [{ id: riskScenarioId } = { id: "" }] = riskScenarios;
    const deleted = harness.call(deleteRiskScenario, { riskScenarioId }, "manager");
    await refused(deleted, Code.FailedPrecondition, /the risk assessment is locked/);
    await expect(harness.call(getRiskScenario, { riskScenarioId }, "manager")).resolves.toBeDefined();
  });
});
