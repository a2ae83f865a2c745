import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { FrameworkService } from "#proto/grc/v1/framework_service_pb.js";
import { RiskService, RiskTreatment } from "#proto/grc/v1/risk_service_pb.js";
import { seededId } from "../../../../../services/sandbox/grc/world.js";
import { type GrcHarness, startGrc } from "../../../../support/platforms/grc.js";

const { listRiskScenarios, getRiskScenario, listAttackOutcomes, getAttackOutcome } = RiskService.method;
const { listFrameworks, getFramework, getFrameworkTree } = FrameworkService.method;
const CSF = seededId("frameworks:nist-csf-2.0");

describe.each(["exchange", "bearer"] as const)("by %s", (auth) => {
  let harness: GrcHarness;
  beforeAll(async () => {
    harness = await startGrc(auth);
  });
  afterAll(() => harness.close());

  test("risk scenarios of all domains of a tenant are paged through once, although the platform filters by one domain", async () => {
    const ids: string[] = [];
    let pageToken: string | undefined;
    do {
      const page = await harness.call(listRiskScenarios, {
        pageSize: 17,
        ...(pageToken !== undefined && { pageToken }),
      });
      expect(page.totalSize).toBe(62);
      ids.push(...page.riskScenarios.map(({ id }) => id));
      pageToken = page.nextPageToken;
    } while (pageToken !== undefined);
    expect(ids).toHaveLength(62);
    expect(new Set(ids).size).toBe(62);
    const read = ids.map((riskScenarioId) => harness.call(getRiskScenario, { riskScenarioId }));
    expect(new Set((await Promise.all(read)).map(({ riskScenario }) => riskScenario?.domain?.name)).size).toBe(3);
  });

  test("risk scenarios are narrowed by assessment, treatment, level and control", async () => {
    const riskAssessmentId = seededId("risk-assessments:northwind:0");
    const narrowed = await harness.call(listRiskScenarios, { riskAssessmentId, treatments: [RiskTreatment.MITIGATE] });
    expect(narrowed.riskScenarios.length).toBeGreaterThan(0);
    for (const one of narrowed.riskScenarios) {
      const { riskScenario } = await harness.call(getRiskScenario, { riskScenarioId: one.id });
      expect(riskScenario).toMatchObject({
        name: one.name,
        treatment: RiskTreatment.MITIGATE,
        riskAssessment: { id: riskAssessmentId },
        current: { level: one.current?.level },
      });
    }
    const levels = await harness.call(listRiskScenarios, { currentLevels: [3, 4], pageSize: 100 });
    expect(new Set(levels.riskScenarios.map(({ current }) => current?.level?.value))).toEqual(new Set([3, 4]));
    const controlId = seededId("applied-controls:northwind:0");
    const treated = await harness.call(listRiskScenarios, { controlId });
    expect(treated.totalSize).toBe(3);
    const foreign = { riskAssessmentId: seededId("risk-assessments:baltic:0") };
    await expect(harness.call(listRiskScenarios, foreign)).rejects.toMatchObject({ code: Code.NotFound });
  });

  test("attack outcomes are EBIOS RM operational scenarios of the tenant's studies, and say so", async () => {
    const { attackOutcomes, totalSize } = await harness.call(
      listAttackOutcomes,
      { tenantId: seededId("folder:baltic") },
      "consultant",
    );
    expect(totalSize).toBe(20);
    const study = seededId("ebios-rm/studies:baltic:0");
    const row = attackOutcomes.find(({ refId, ...one }) => refId === "AP.01" && one.study?.id === study);
    expect(row?.study?.id).toBeDefined();
    const named = { tenantId: seededId("folder:baltic"), attackOutcomeId: row!.id };
    const { attackOutcome } = await harness.call(getAttackOutcome, named, "consultant");
    expect(attackOutcome).toMatchObject({
      method: "ebios-rm",
      riskLevel: row?.riskLevel,
      study: { id: row?.study?.id },
      name: "Baltic through supplier vpn - Supplier VPN",
      riskOrigin: "Activist",
      targetObjective: "Resell customer data",
      attackPath: { name: "Supplier VPN" },
      gravity: { value: 3, name: "Critical" },
    });
    const studyId = seededId("ebios-rm/studies:northwind:0");
    const ofOne = await harness.call(listAttackOutcomes, { studyId });
    expect(ofOne.totalSize).toBe(10);
    expect(ofOne.attackOutcomes[0]?.study).toBeUndefined();
    const foreign = { studyId: seededId("ebios-rm/studies:baltic:0") };
    await expect(harness.call(listAttackOutcomes, foreign)).rejects.toMatchObject({ code: Code.NotFound });
  });

  test("an attack outcome by a path of another tenant's study names nothing of it to who may not see it", async () => {
    const studyId = seededId("ebios-rm/studies:northwind:1");
    const linked = seededId("ebios-rm/operational-scenarios:northwind:1:9");
    const row = async (as?: string, tenantId?: string) =>
      (await harness.call(listAttackOutcomes, { studyId, tenantId }, as)).attackOutcomes.find(
        ({ id }) => id === linked,
      )!;
    const outcome = async (as?: string, tenantId?: string) =>
      (await harness.call(getAttackOutcome, { attackOutcomeId: linked, tenantId }, as)).attackOutcome!;
    for (const told of [await row(), await outcome()]) {
      expect(told).toMatchObject({ name: "an attack path that you may not see", hiddenLinks: 1 });
      expect([told.refId, told.attackPath, told.riskOrigin, told.targetObjective]).toEqual(Array(4).fill(undefined));
    }
    const both = ["consultant", seededId("folder:northwind")] as const;
    for (const told of [await row(...both), await outcome(...both)]) {
      expect(told.name).toMatch(/^Baltic through /);
      expect(told.hiddenLinks).toBeUndefined();
    }
    const { attackPath, riskOrigin, targetObjective } = await outcome(...both);
    expect([attackPath?.name, riskOrigin, targetObjective].every(Boolean)).toBe(true);
  });

  test("a risk scenario or an attack outcome of another tenant is not found", async () => {
    const tenantId = seededId("folder:baltic");
    const risks = await harness.call(listRiskScenarios, { tenantId, pageSize: 1 }, "consultant");
    const outcomes = await harness.call(listAttackOutcomes, { tenantId, pageSize: 1 }, "consultant");
    for (const read of [
      () => harness.call(getRiskScenario, { riskScenarioId: risks.riskScenarios[0]!.id }),
      () => harness.call(getAttackOutcome, { attackOutcomeId: outcomes.attackOutcomes[0]!.id }),
    ]) {
      await expect(read()).rejects.toMatchObject({ code: Code.NotFound });
    }
  });

  test("frameworks are shared, and one is read with its levels", async () => {
    const { frameworks } = await harness.call(listFrameworks, { provider: "NIST" }, "manager");
    expect(frameworks).toMatchObject([{ id: CSF, refId: "NIST-CSF-2.0", minScore: 1, maxScore: 4, levels: [] }]);
    const { framework } = await harness.call(getFramework, { frameworkId: CSF });
    expect(framework?.levels.map(({ name }) => name)).toEqual(["Partial", "Risk informed", "Repeatable", "Adaptive"]);
    const iso = await harness.call(getFramework, { frameworkId: seededId("frameworks:iso27001-2022") });
    expect(iso.framework).toMatchObject({ minScore: 0, maxScore: 100, levels: [] });
  });

  test("the outline of a framework is paged, parents first, or cut to a part", async () => {
    const first = await harness.call(getFrameworkTree, { frameworkId: CSF });
    expect(first).toMatchObject({ totalSize: 134 });
    expect(first.requirements.slice(0, 3).map(({ refId, depth, assessable }) => [refId, depth, assessable])).toEqual([
      ["GV", 0, false],
      ["GV.OC", 1, false],
      ["GV.OC-01", 2, true],
    ]);
    expect(first.requirements.every(({ description }) => (description ?? "").length <= 120)).toBe(true);
    const part = await harness.call(getFrameworkTree, { frameworkId: CSF, underRefId: "pr.at" });
    expect(part.requirements.map(({ refId }) => refId)).toEqual(["PR.AT", "PR.AT-01", "PR.AT-02"]);
    await expect(harness.call(getFrameworkTree, { frameworkId: CSF, underRefId: "XX" })).rejects.toMatchObject({
      code: Code.NotFound,
    });
  });

  test("the outline is handed out only of a framework that the caller may read", async () => {
    const trees = () => harness.sandbox.audit.filter(({ path }) => path.includes("/tree/")).length;
    const before = trees();
    await expect(harness.call(getFrameworkTree, { frameworkId: seededId("nothing") })).rejects.toMatchObject({
      code: Code.NotFound,
    });
    await expect(harness.call(getFrameworkTree, { frameworkId: CSF }, "outsider")).rejects.toMatchObject({
      code: Code.FailedPrecondition,
    });
    expect(trees()).toBe(before);
  });
});
