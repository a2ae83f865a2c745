import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { EvidenceService, EvidenceStatus } from "#proto/grc/v1/evidence_service_pb.js";
import { RiskService, RiskTreatment } from "#proto/grc/v1/risk_service_pb.js";
import { answer, EXCHANGE, whoAmI } from "./answering.js";
import { ALPHA, BACKUPS, EVIDENCE, MFA, MISSION, POLICY_PAGE, realCaller, SCREENSHOT, STUDY } from "./real-caller.js";

// The tools read what the real platform answered, word for word; the built-in
// platform, which might share a mistake with them, has no part in it.

const { answers, answersWith, asked, call, queries, sent } = realCaller();

describe("evidence", () => {
  test("is listed with how much it proves", async () => {
    answers(188);
    const { evidence } = await call(EvidenceService.method.listEvidence, { statuses: [EvidenceStatus.IN_REVIEW] });
    expect(queries(EVIDENCE)[0]?.getAll("status")).toEqual(["in_review"]);
    expect(evidence).toMatchObject([
      {
        id: SCREENSHOT,
        status: EvidenceStatus.DRAFT,
        controls: [],
        controlCount: 1,
        requirementAssessmentCount: 1,
        hiddenLinks: 0,
      },
    ]);
    expect(evidence[0]?.domain ?? evidence[0]?.link).toBeUndefined();
  });

  test("is read with what it proves", async () => {
    answers(210);
    const { evidence } = await call(EvidenceService.method.getEvidence, { evidenceId: SCREENSHOT });
    expect(evidence).toMatchObject({
      id: SCREENSHOT,
      controls: [{ id: MFA, name: "Alpha MFA for administrators" }],
      requirementAssessments: [{ id: MISSION, name: "GV.OC-01" }],
      domain: ALPHA,
    });
    expect([evidence?.controlCount, evidence?.requirementAssessmentCount]).toEqual([undefined, undefined]);
  });

  test("is recorded, and read back", async () => {
    answers(104, 198, 202);
    const { evidence } = await call(EvidenceService.method.createEvidence, {
      name: "Alpha policy page",
      link: "https://wiki.example.test/mfa",
      description: "The page",
      expiryDate: "2027-12-31",
      controlIds: [MFA],
    });
    expect(evidence).toMatchObject({ status: EvidenceStatus.IN_REVIEW, link: "https://wiki.example.test/mfa2" });
  });

  test("is left alone where the caller may not add versions, since a refused one changes its status", async () => {
    answers(202);
    const request = { evidenceId: POLICY_PAGE, link: "https://wiki.example.test/mfa2" };
    await expect(call(EvidenceService.method.updateEvidence, request)).rejects.toMatchObject({
      code: Code.PermissionDenied,
      rawMessage: expect.stringContaining("may not add versions"),
    });
    expect(asked().filter(({ method, path }) => method !== "GET" && path !== EXCHANGE)).toEqual([]);
  });

  test("gets a new version for a new link, and the status after it", async () => {
    answersWith(whoAmI("add_evidencerevision"));
    const approved = { ...(answer(202).answer as object), status: "Approved" };
    answersWith({ ...answer(202), answer: approved });
    answers(217, 201);
    await call(EvidenceService.method.updateEvidence, {
      evidenceId: POLICY_PAGE,
      link: "https://wiki.example.test/mfa2",
      versionNote: "renewed",
      status: EvidenceStatus.APPROVED,
    });
    expect(sent("POST", "/api/evidence-revisions/")).toEqual([
      { evidence: POLICY_PAGE, folder: ALPHA.id, link: "https://wiki.example.test/mfa2", observation: "renewed" },
    ]);
    expect(sent("PATCH", `${EVIDENCE}${POLICY_PAGE}/`)).toEqual([
      { link: "https://wiki.example.test/mfa2" },
      { status: "approved" },
    ]);
  });

  test("names the file of its latest version", async () => {
    answers(210);
    answersWith(answer(217), `${EVIDENCE}${SCREENSHOT}/`);
    const { evidence } = await call(EvidenceService.method.updateEvidence, { evidenceId: SCREENSHOT, expiryDate: "" });
    expect(evidence).toMatchObject({ fileName: "proof.txt", fileSize: "17 B", status: EvidenceStatus.IN_REVIEW });
  });
});

/** The tenant's risk assessments: one. */
function assessments(): void {
  const rows = [{ id: RISK_ASSESSMENT, folder: { str: ALPHA.name, id: ALPHA.id } }];
  const path = "/api/risk-assessments/";
  answersWith({ ...answer(230), path, answer: { count: 1, results: rows } });
}

const RISK_ASSESSMENT = "d24ee464-5955-4844-91ac-56271f069af0";

describe("risks", () => {
  test("are listed with their ratings by name", async () => {
    answers(230);
    assessments();
    const { riskScenarios, assets } = await call(RiskService.method.listRiskScenarios, {
      treatments: [RiskTreatment.MITIGATE],
      currentLevels: [3, 4],
    });
    const query = queries("/api/risk-scenarios/")[0]!;
    expect([query.getAll("treatment"), query.getAll("current_level")]).toEqual([["mitigate"], ["3", "4"]]);
    expect(query.getAll("risk_assessment")).toEqual([RISK_ASSESSMENT]);
    expect(query.has("folder")).toBe(false);
    expect(riskScenarios[0]).toMatchObject({
      refId: "R.1",
      name: "Alpha ransomware",
      treatment: RiskTreatment.MITIGATE,
      current: { level: { value: 4, name: "5 - very high" } },
      residual: { level: { value: 2, name: "3 - medium" } },
      assets: [{ id: assets[0]?.id }],
    });
    expect(riskScenarios[0]?.assets[0]?.name).toBeUndefined();
    expect(assets).toHaveLength(1);
    const { riskAssessment, domain, inherent, current } = riskScenarios[0]!;
    expect(riskAssessment ?? domain ?? inherent ?? current?.impact).toBeUndefined();
  });

  test("are read with their ratings by name, assets and controls", async () => {
    const [scenario] = (answer(230).answer as { results: { id: string }[] }).results;
    answersWith({ ...answer(230), answer: scenario }, `/api/risk-scenarios/${scenario?.id}/`);
    const { riskScenario } = await call(RiskService.method.getRiskScenario, { riskScenarioId: scenario!.id });
    expect(riskScenario).toMatchObject({
      riskAssessment: { name: "Alpha yearly risk review" },
      domain: ALPHA,
      inherent: { probability: { value: 4, name: "5 - almost certain" } },
      current: { impact: { value: 4, name: "5 - catastrophic" }, level: { value: 4, name: "5 - very high" } },
      residual: { level: { value: 2, name: "3 - medium" } },
      assets: [{ name: "Alpha card database" }],
      controls: [{ id: MFA }],
      existingControls: [{ id: BACKUPS }],
    });
  });

  test("that are not rated have no rating", async () => {
    const scenario = answer(249).answer as { risk_assessment: { id: string } };
    const list = { count: 1, results: [scenario] };
    answersWith({ ...answer(230), answer: list });
    assessments();
    const { riskScenarios } = await call(RiskService.method.listRiskScenarios, {});
    expect(riskScenarios[0]).toMatchObject({
      treatment: RiskTreatment.ACCEPT,
      current: { level: { value: 3, name: "4 - high" } },
    });
    expect(riskScenarios[0]?.inherent?.level).toBeUndefined();
    expect(riskScenarios[0]?.residual?.probability).toBeUndefined();
  });

  test("have attack outcomes: the operational scenarios of the tenant's studies", async () => {
    const study = { id: STUDY, folder: { str: ALPHA.name, id: ALPHA.id } };
    answersWith({ ...answer(257), path: "/api/ebios-rm/studies/", answer: { count: 1, results: [study] } });
    answers(257);
    const { attackOutcomes } = await call(RiskService.method.listAttackOutcomes, {});
    expect(queries("/api/ebios-rm/operational-scenarios/")[0]?.get("ebios_rm_study")).toBe(STUDY);
    const row = {
      refId: "AP.01",
      name: "Alpha through the hosting supplier - Alpha supplier VPN",
      riskLevel: { value: 2, name: "High" },
      selected: true,
    };
    expect(attackOutcomes).toMatchObject([{ ...row, study: { id: STUDY }, method: "" }]);
    const [outcome] = (answer(257).answer as { results: { id: string }[] }).results;
    answersWith({ ...answer(257), answer: outcome }, `/api/ebios-rm/operational-scenarios/${outcome?.id}/`);
    const read = await call(RiskService.method.getAttackOutcome, { attackOutcomeId: outcome!.id });
    expect(read.attackOutcome).toMatchObject({
      ...row,
      method: "ebios-rm",
      study: { id: STUDY, name: "Alpha EBIOS study" },
      domain: ALPHA,
      attackPath: { name: "Alpha supplier VPN" },
      riskOrigin: "Activist",
      targetObjective: "Resell card data",
      operatingMode: "Stolen VPN account, then database export",
      likelihood: { value: 2, name: "Very likely" },
      gravity: { value: 3, name: "Critical" },
    });
  });
});
