import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AccountService } from "#proto/grc/v1/account_service_pb.js";
import { AssessmentService } from "#proto/grc/v1/assessment_service_pb.js";
import { ControlService, ControlStatus } from "#proto/grc/v1/control_service_pb.js";
import { EvidenceService, EvidenceStatus } from "#proto/grc/v1/evidence_service_pb.js";
import { FrameworkService } from "#proto/grc/v1/framework_service_pb.js";
import { RiskService } from "#proto/grc/v1/risk_service_pb.js";
import { GrcType, TenantService } from "#proto/grc/v1/tenant_service_pb.js";
import { seededId } from "../../../../../services/sandbox/grc/world.js";
import { readImage } from "../../../../../services/shared/tools/image.js";
import { readTools } from "../../../../../services/shared/tools/tools.js";
import { type GrcHarness, startGrc } from "../../../../support/platforms/grc.js";

// What lies at the edges of a tenant, and what changes while it is looked at:
// each was told wrongly once, in front of the real platform too (test/truth/grc).

const NORTHWIND = seededId("folder:northwind");
const ENCLAVE = seededId("folder:northwind-supplier");
const AUDIT = seededId("compliance-assessments:northwind:supplier");
const requirement = (ref: string) => seededId(`requirement-assessments:northwind:supplier:${ref}`);
const CONTROL = seededId("applied-controls:northwind:119");
const SHARED_CONTROL = seededId("applied-controls:shared");

let harness: GrcHarness;
beforeAll(async () => {
  harness = await startGrc("exchange");
});
afterAll(() => harness.close());

describe("risks", () => {
  const { listRiskScenarios, getRiskScenario } = RiskService.method;

  test("of an assessment without a perimeter are listed, newest first over all domains", async () => {
    const ids: string[] = [];
    let pageToken = "";
    do {
      const page = await harness.call(listRiskScenarios, { pageSize: 17, pageToken }, "reader");
      ids.push(...page.riskScenarios.map(({ id }) => id));
      pageToken = page.nextPageToken ?? "";
    } while (pageToken !== "");
    // They are as old as one of another assessment.
    const same = ["project:0", "project:1", "2:0"].map((key) => seededId(`risk-scenarios:northwind:${key}`)).sort();
    const first = ids.indexOf(same[0]!);
    expect(ids.slice(first, first + 3)).toEqual(same);
    expect(ids).not.toContain(seededId("risk-scenarios:shared:0"));
    // Of three assessments in three domains, made one after the other: the last comes first.
    expect(ids.slice(0, 20)).toContain(seededId("risk-scenarios:northwind:2:0"));
    expect(ids.indexOf(seededId("risk-scenarios:northwind:0:0"))).toBeGreaterThan(39);
  });

  test("of a control are those that it is planned against and those that it is in place against", async () => {
    const control = seededId("applied-controls:northwind:1");
    const { riskScenarios } = await harness.call(listRiskScenarios, { controlId: control.toUpperCase() }, "reader");
    expect(riskScenarios.length).toBeGreaterThan(0);
    for (const { id: riskScenarioId } of riskScenarios) {
      const { riskScenario } = await harness.call(getRiskScenario, { riskScenarioId }, "reader");
      expect(riskScenario!.existingControls.map(({ id }) => id)).toEqual([control]);
    }
  });
});

describe("the audit of a supplier, of a part of its framework", () => {
  const { listRequirementAssessments, getRequirementAssessment, setRequirementControls } = AssessmentService.method;

  test("lies in the tenant, with the requirements that it covers and no others", async () => {
    const { tenants } = await harness.call(TenantService.method.listTenants, {}, "reader");
    expect(tenants[0]?.domains.map(({ id }) => id)).toContain(ENCLAVE);
    const asked = { assessmentId: AUDIT, pageSize: 100 };
    const { requirementAssessments: rows, totalSize } = await harness.call(listRequirementAssessments, asked, "reader");
    expect(rows).toHaveLength(totalSize);
    expect(rows.map(({ requirement: of }) => of?.refId)).toContain("4.1");
    expect(rows.filter(({ requirement: of }) => of?.refId?.startsWith("A."))).toEqual([]);
    const all = await harness.call(listRequirementAssessments, { ...asked, withHeadings: true }, "reader");
    expect(all.totalSize).toBe(totalSize + 7);
  });

  test("is in the list of all audits, once and in order", async () => {
    const ids: string[] = [];
    let pageToken = "";
    let total = 0;
    do {
      const page = await harness.call(listRequirementAssessments, { pageSize: 100, pageToken }, "reader");
      ids.push(...page.requirementAssessments.map(({ id }) => id));
      total = page.totalSize;
      pageToken = page.nextPageToken ?? "";
    } while (pageToken !== "");
    expect(new Set(ids).size).toBe(total);
    expect(ids).toContain(requirement("4.1"));
    expect(ids).not.toContain(requirement("A.5.1"));
  });

  test("is looked for among those of its framework: one of each says whether it has groups", async () => {
    const before = harness.done("reader").length;
    await harness.call(listRequirementAssessments, {}, "reader");
    const asked = harness.done("reader").slice(before);
    // Two audits of a framework without groups, two of one with them.
    expect(asked.filter((one) => /compliance-assessments\/[0-9a-f-]{36}\/$/.test(one))).toHaveLength(3);
  });

  test("says of a requirement that it does not cover that it does not", async () => {
    const read = async (ref: string) => {
      const request = { requirementAssessmentId: requirement(ref) };
      return (await harness.call(getRequirementAssessment, request, "reader")).requirementAssessment!.outOfScope;
    };
    expect([await read("A.5.1"), await read("4.1")]).toEqual([true, undefined]);
  });

  test("gives a control no score where it does not cover the requirement", async () => {
    const { control } = await harness.call(ControlService.method.getControl, { controlId: CONTROL });
    const scored = control!.maturity.flatMap(({ requirements }) => requirements.map(({ id }) => id));
    expect(scored).toContain(requirement("4.1"));
    expect(scored).not.toContain(requirement("A.5.1"));
    const set = { controlId: CONTROL, requirementAssessmentId: requirement("A.5.1"), score: 3 };
    await expect(harness.call(ControlService.method.setControlMaturity, set)).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining("implementation groups"),
    });
  });

  test("does not let its respondent change what it closes, and nothing else is said", async () => {
    const clear = { requirementAssessmentId: requirement("4.1"), clearControls: true };
    await expect(harness.call(setRequirementControls, clear, "supplier")).rejects.toMatchObject({
      code: Code.FailedPrecondition,
    });
    const { evidence } = await harness.call(EvidenceService.method.createEvidence, { name: "Report" }, "supplier");
    const approve = { evidenceId: evidence!.id, status: EvidenceStatus.APPROVED };
    await expect(harness.call(EvidenceService.method.updateEvidence, approve, "supplier")).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining("did not change it"),
    });
    const both = { ...approve, name: "Report of this year" };
    await expect(harness.call(EvidenceService.method.updateEvidence, both, "supplier")).rejects.toMatchObject({
      rawMessage: expect.stringContaining("the other fields were changed"),
    });
    const read = await harness.call(EvidenceService.method.getEvidence, { evidenceId: evidence!.id }, "supplier");
    expect(read.evidence).toMatchObject({ name: "Report of this year", status: EvidenceStatus.DRAFT });
  });

  test("in review refuses changes in those words", async () => {
    await harness.ask("admin", "PATCH", `/api/compliance-assessments/${AUDIT}/`, { status: "in_review" });
    const link = { requirementAssessmentId: requirement("4.2"), controlIds: [CONTROL] };
    await expect(harness.call(setRequirementControls, link)).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining("in review"),
    });
    await harness.ask("admin", "PATCH", `/api/compliance-assessments/${AUDIT}/`, { status: "in_progress" });
  });
});

describe("a respondent of an audit", () => {
  const { listRequirementAssessments, getRequirementAssessment } = AssessmentService.method;
  const given = ["GV.OC-01", "GV.OC-02"].map((ref) => seededId(`requirement-assessments:northwind:csf:${ref}`));
  const other = seededId("requirement-assessments:northwind:csf:GV.OC-03");

  test("is told of the requirements that were given to the caller, and of no others", async () => {
    const { requirementAssessments, totalSize } = await harness.call(listRequirementAssessments, {}, "auditee");
    expect(requirementAssessments.map(({ id }) => id)).toEqual(given);
    expect(totalSize).toBe(2);
    const read = harness.call(getRequirementAssessment, { requirementAssessmentId: other }, "auditee");
    await expect(read).rejects.toMatchObject({ code: Code.NotFound });
  });

  test("is not told by evidence what else it proves, though the platform names it", async () => {
    const evidence = { name: "Minutes", folder: NORTHWIND };
    const { id } = (await harness.ask("admin", "POST", "/api/evidences/", evidence)) as unknown as { id: string };
    for (const one of [given[0], other]) {
      await harness.ask("admin", "PATCH", `/api/requirement-assessments/${one}/`, { evidences: [id] });
    }
    const seen = async (as: string) => {
      const { evidence: read } = await harness.call(EvidenceService.method.getEvidence, { evidenceId: id }, as);
      return { ids: read!.requirementAssessments.map((one) => one.id).sort(), hidden: read!.hiddenLinks };
    };
    expect(await seen("reader")).toEqual({ ids: [given[0], other].sort(), hidden: 0 });
    expect(await seen("auditee")).toEqual({ ids: [given[0]], hidden: 1 });
    // A list counts as the single read does.
    for (const as of ["reader", "auditee"]) {
      const { evidence: rows } = await harness.call(EvidenceService.method.listEvidence, { query: "Minutes" }, as);
      const { ids, hidden } = await seen(as);
      const row = rows.find((one) => one.id === id);
      expect(row).toMatchObject({ requirementAssessmentCount: ids.length, hiddenLinks: hidden });
    }
  });
});

describe("what all tenants share", () => {
  test("is found and read by everybody with a role, by its id in any case, and listed in no tenant", async () => {
    const types = [GrcType.CONTROL, GrcType.EVIDENCE, GrcType.RISK_SCENARIO];
    const { hits } = await harness.call(TenantService.method.searchAll, { query: "Shared", types }, "reader");
    const shared = hits.filter(({ name }) => name.startsWith("Shared"));
    // Risks that lie above the tenants are published to nobody.
    expect(shared.map(({ type }) => type).sort()).toEqual([GrcType.CONTROL, GrcType.EVIDENCE].sort());
    const upper = SHARED_CONTROL.toUpperCase();
    const { control } = await harness.call(ControlService.method.getControl, { controlId: upper }, "reader");
    expect(control).toMatchObject({ id: SHARED_CONTROL, name: "Shared awareness training" });
    const listed = await harness.call(ControlService.method.listControls, { query: "Shared awareness" }, "reader");
    expect(listed.totalSize).toBe(0);
  });

  test("is not changed by a tenant's tools, and said to be shared", async () => {
    const change = { tenantId: NORTHWIND, controlId: SHARED_CONTROL, status: ControlStatus.TO_DO };
    await expect(harness.call(ControlService.method.updateControl, change, "admin")).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining("shared by all tenants"),
    });
  });
});

test("ids are taken in any case", async () => {
  const { control } = await harness.call(ControlService.method.createControl, {
    tenantId: NORTHWIND.toUpperCase(),
    domainId: seededId("folder:northwind-grid").toUpperCase(),
    name: "In any case",
  });
  const controlId = control!.id.toUpperCase();
  const changed = await harness.call(ControlService.method.updateControl, { controlId, priority: 2 });
  expect(changed.control).toMatchObject({ id: control!.id, priority: 2 });
  const { deleted } = await harness.call(ControlService.method.deleteControl, { controlId });
  expect(deleted?.id).toBe(control!.id);
});

test("a link that the platform refuses leaves evidence as it was", async () => {
  const { createEvidence, updateEvidence, getEvidence } = EvidenceService.method;
  const { evidence } = await harness.call(createEvidence, { name: "As it was", link: "https://proof.example/1" });
  const evidenceId = evidence!.id;
  const change = { evidenceId, name: "Half done", link: "urn:proof:2", status: EvidenceStatus.APPROVED };
  await expect(harness.call(updateEvidence, change)).rejects.toMatchObject({
    code: Code.InvalidArgument,
    rawMessage: expect.stringContaining("link: "),
  });
  expect((await harness.call(getEvidence, { evidenceId })).evidence).toMatchObject({
    name: "As it was",
    link: "https://proof.example/1",
    status: EvidenceStatus.DRAFT,
  });
});

/** Deletes a folder at the platform; the answer is empty. */
async function remove(folder: string): Promise<void> {
  await harness.ask("admin", "DELETE", `/api/folders/${folder}/`).catch(() => undefined);
}

describe("what is kept of a caller's domains", () => {
  const lists = [
    (as: string, tenantId?: string) => harness.call(ControlService.method.listControls, { tenantId }, as),
    (as: string, tenantId?: string) => harness.call(EvidenceService.method.listEvidence, { tenantId }, as),
    (as: string, tenantId?: string) => harness.call(FrameworkService.method.listFrameworks, { tenantId }, as),
    (as: string, tenantId?: string) => harness.call(RiskService.method.listRiskScenarios, { tenantId }, as),
    (as: string, tenantId?: string) => harness.call(RiskService.method.listAttackOutcomes, { tenantId }, as),
    (as: string, tenantId?: string) =>
      harness.call(AssessmentService.method.listRequirementAssessments, { tenantId }, as),
    (as: string, tenantId?: string) => harness.call(TenantService.method.searchAll, { tenantId, query: "mfa" }, as),
  ];

  test("is forgotten where a domain was made or deleted since, and the call answered all the same", async () => {
    for (const list of lists) {
      await list("officer");
      const body = { name: "Passing", parent_folder: NORTHWIND };
      const { id: domainId } = (await harness.ask("admin", "POST", "/api/folders/", body)) as unknown as { id: string };
      const made = { domainId, name: "In a new domain" };
      const { control } = await harness.call(ControlService.method.createControl, made);
      expect(control?.domain?.id).toBe(domainId);
      await list("officer");
      await remove(domainId);
      await expect(list("officer")).resolves.toBeDefined();
    }
  });

  test("is forgotten where the only role was taken, and every list says so", async () => {
    for (const list of lists) {
      await list("regional");
      const giveBack = harness.sandbox.takeRoles("regional@sallyport.example");
      await expect(list("regional")).rejects.toMatchObject({
        code: Code.FailedPrecondition,
        rawMessage: expect.stringContaining("you have no tenant"),
      });
      giveBack();
      await expect(list("regional")).resolves.toBeDefined();
    }
  });
});

describe("whoami", () => {
  const { whoami } = AccountService.method;

  test("tells the account, its actor, its roles and what it may do in each tenant", async () => {
    const { tenants, ...me } = await harness.call(whoami, {}, "reader");
    expect(me).toMatchObject({
      email: "reader@sallyport.example",
      actor: { id: seededId("actor:reader") },
      administrator: false,
      roles: ["BI-RL-AUD"],
    });
    expect(tenants).toMatchObject([{ id: NORTHWIND, name: "Northwind Energy" }]);
    expect(tenants[0]?.capabilities).toContain("view_appliedcontrol");
    expect(tenants[0]?.capabilities).not.toContain("change_appliedcontrol");
    // Of all that any tool needs, nothing is left out.
    const needed = readTools(readImage()).flatMap((tool) => (tool.server === "grc" ? tool.needs : []));
    const officer = (await harness.call(whoami, {}, "officer")).tenants[0]!.capabilities;
    expect(needed.filter((right) => right !== "attach_evidence" && !officer.includes(right))).toEqual([]);
    expect(officer).toContain("view_compliance_assessment_full");
    const both = await harness.call(whoami, {}, "consultant");
    expect(both.tenants).toHaveLength(2);
    expect((await harness.call(whoami, {}, "admin")).administrator).toBe(true);
    expect((await harness.call(whoami, {}, "outsider")).tenants).toEqual([]);
  });
});
