import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { AssessmentResult } from "#proto/grc/v1/assessment_pb.js";
import { AssessmentService } from "#proto/grc/v1/assessment_service_pb.js";
import {
  ControlCategory,
  ControlEffort,
  ControlService,
  ControlStatus,
  CsfFunction,
} from "#proto/grc/v1/control_service_pb.js";
import { answer } from "./answering.js";
import {
  ALPHA,
  ALPHA_EU,
  AUDIT,
  BACKUPS,
  CONTROLS,
  EVIDENCE,
  MFA,
  MISSION,
  REQUIREMENTS,
  ROOT,
  realCaller,
  SCREENSHOT,
} from "./real-caller.js";

// The tools read what the real platform answered, word for word; the built-in
// platform, which might share a mistake with them, has no part in it.

const { answers, answersWith, call, queries, sent } = realCaller();

describe("controls", () => {
  test("are listed by codes and read from labels", async () => {
    answers(59);
    const { controls } = await call(ControlService.method.listControls, {
      statuses: [ControlStatus.TO_DO, ControlStatus.IN_PROGRESS],
      category: ControlCategory.TECHNICAL,
      csfFunction: CsfFunction.PROTECT,
      priority: 1,
      query: "mfa",
    });
    const query = queries(CONTROLS)[0]!;
    expect(query.getAll("folder")).toEqual([ALPHA.id, ALPHA_EU]);
    expect(query.getAll("status")).toEqual(["to_do", "in_progress"]);
    expect([query.get("category"), query.get("csf_function"), query.get("priority")]).toEqual([
      "technical",
      "protect",
      "1",
    ]);
    expect(controls).toMatchObject([
      {
        id: MFA,
        refId: "C-a-1",
        status: ControlStatus.IN_PROGRESS,
        category: ControlCategory.TECHNICAL,
        csfFunction: CsfFunction.PROTECT,
        priority: 1,
        eta: "2027-03-31",
        progress: 0,
      },
      { id: BACKUPS, status: ControlStatus.ACTIVE, progress: 100 },
    ]);
    expect([controls[1]?.refId, controls[1]?.eta]).toEqual([undefined, undefined]);
    // Left to get_control.
    expect(controls[0]).toMatchObject({ effort: ControlEffort.UNSPECIFIED, owners: [], evidence: [] });
    expect(controls[0]?.domain ?? controls[0]?.impact ?? controls[0]?.createdAt).toBeUndefined();
  });

  test("are read with their maturity, and count what is hidden", async () => {
    answers(104, 181);
    const { control } = await call(ControlService.method.getControl, { controlId: MFA });
    expect(control).toMatchObject({
      evidence: [{ id: SCREENSHOT, name: "Alpha MFA screenshot" }],
      hiddenLinks: 1,
      maturity: [
        {
          assessment: { id: AUDIT, name: "Alpha CSF review" },
          scoreVisible: true,
          minScore: 1,
          maxScore: 4,
          requirements: [
            {
              id: MISSION,
              requirement: { refId: "GV.OC-01" },
              score: 3,
              level: "Repeatable",
              result: AssessmentResult.COMPLIANT,
            },
          ],
        },
      ],
    });
  });

  test("are created with fields that the platform takes", async () => {
    answers(87, 181);
    answersWith(answer(104), `${CONTROLS}c889145e-563d-4bba-b859-936cec5011fd/`);
    answersWith(answer(202), `${EVIDENCE}${SCREENSHOT}/`);
    answersWith({ ...answer(104), answer: { id: ROOT } }, `/api/actors/${ROOT}/`);
    answersWith(
      { ...answer(116), answer: (answer(116).answer as { results: object[] }).results[0] },
      `/api/reference-controls/${ROOT}/`,
    );
    await call(ControlService.method.createControl, {
      name: "Alpha log review",
      refId: "L-1",
      description: "Weekly",
      status: ControlStatus.TO_DO,
      category: ControlCategory.PROCESS,
      csfFunction: CsfFunction.DETECT,
      priority: 2,
      effort: ControlEffort.EXTRA_LARGE,
      impact: 5,
      eta: "2027-01-31",
      link: "https://wiki.example.test/",
      evidenceIds: [SCREENSHOT],
      ownerActorIds: [ROOT],
      referenceControlId: ROOT,
    });
    expect(sent("POST", CONTROLS)[0]).toMatchObject({
      folder: ALPHA.id,
      status: "to_do",
      category: "process",
      csf_function: "detect",
      priority: 2,
      effort: "XL",
      control_impact: 5,
    });
  });

  test("are changed field by field, and deleted", async () => {
    const path = `${CONTROLS}${MFA}/`;
    answers(104, 181);
    answersWith(answer(98), path);
    answersWith(answer(114), path);
    await call(ControlService.method.updateControl, { controlId: MFA, progress: 60, observation: "weekly", eta: "" });
    expect(sent("PATCH", path)).toEqual([{ progress_field: 60, observation: "weekly", eta: null }]);
    const { deleted } = await call(ControlService.method.deleteControl, { controlId: MFA });
    expect(deleted).toMatchObject({ id: MFA, name: "Alpha MFA for administrators" });
  });

  test.each([
    [88, Code.PermissionDenied, "may not add objects to this domain"],
    [93, Code.InvalidArgument, "priority:"],
    [95, Code.AlreadyExists, "name: another object of this domain already uses it"],
    [96, Code.NotFound, "evidence_ids: not found"],
  ])("that are refused as in exchange %d are refused in words", async (line, code, message) => {
    answers(line);
    await expect(call(ControlService.method.createControl, { name: "No" })).rejects.toMatchObject({
      code,
      rawMessage: expect.stringContaining(message),
    });
  });
});

describe("requirement assessments", () => {
  test("say that scores are hidden where the audit leaves them out", async () => {
    answers(133, 145);
    const { requirementAssessments, totalSize } = await call(AssessmentService.method.listRequirementAssessments, {
      assessmentId: AUDIT,
      results: [AssessmentResult.NOT_ASSESSED, AssessmentResult.PARTIALLY_COMPLIANT],
    });
    const query = queries(REQUIREMENTS)[0]!;
    expect(query.getAll("result")).toEqual(["not_assessed", "partially_compliant"]);
    expect(query.get("requirement__assessable")).toBe("true");
    expect(totalSize).toBe(134);
    expect(requirementAssessments[0]).toMatchObject({
      requirement: { refId: "GV", name: "GOVERN" },
      result: AssessmentResult.NOT_ASSESSED,
      assessable: false,
    });
    const { assessment, domain, score, controlCount, locked } = requirementAssessments[0]!;
    expect([assessment, domain, score, controlCount, locked]).toEqual(Array(5).fill(undefined));
  });

  test("are read with the scale and everything that lists leave out", async () => {
    answers(161);
    const request = { requirementAssessmentId: MISSION };
    const { requirementAssessment } = await call(AssessmentService.method.getRequirementAssessment, request);
    expect(requirementAssessment).toMatchObject({
      id: MISSION,
      requirement: { refId: "GV.OC-01" },
      assessment: { id: AUDIT },
      domain: ALPHA,
      controls: [],
      evidence: [],
      maturity: { scoreVisible: true, minScore: 1, maxScore: 4 },
    });
  });

  test("of a locked audit without named levels say so", async () => {
    answers(164);
    // No audit that covers a part of its framework.
    answersWith({ ...answer(133), answer: { count: 0, results: [] } }, "/api/compliance-assessments/");
    const { requirementAssessments } = await call(AssessmentService.method.listRequirementAssessments, {});
    expect(requirementAssessments[0]).toMatchObject({ requirement: { refId: "core", name: "Clauses" }, locked: true });
  });

  test("take a score with what makes it count, and it is read back", async () => {
    answers(104, 181, 157, 161);
    const { maturity } = await call(ControlService.method.setControlMaturity, {
      controlId: MFA,
      score: 3,
      justification: "Seen on site",
    });
    expect(sent("PATCH", `${REQUIREMENTS}${MISSION}/`)).toEqual([
      { score: 3, is_scored: true, observation: "Seen on site" },
    ]);
    expect(maturity).toMatchObject({
      scoreVisible: true,
      requirements: [{ score: 3, level: "Repeatable", requirement: { refId: "GV.OC-01" } }],
    });
  });

  test("take the controls that answer them", async () => {
    answers(104);
    answersWith(
      { ...answer(104), answer: { ...(answer(104).answer as object), id: BACKUPS } },
      `${CONTROLS}${BACKUPS}/`,
    );
    const linked = { ...(answer(161).answer as object), applied_controls: [{ id: MFA }, { id: BACKUPS }] };
    answersWith({ ...answer(161), answer: linked });
    answers(171);
    await call(AssessmentService.method.setRequirementControls, {
      requirementAssessmentId: MISSION,
      controlIds: [MFA, BACKUPS],
    });
    expect(sent("PATCH", `${REQUIREMENTS}${MISSION}/`)).toEqual([{ applied_controls: [MFA, BACKUPS] }]);
  });

  test.each([
    [165, Code.FailedPrecondition, "the audit is locked"],
    [168, Code.PermissionDenied, "may see this in CISO Assistant but not change it"],
    [173, Code.NotFound, "control_ids: not found"],
  ])("that are refused as in exchange %d are refused in words", async (line, code, message) => {
    answers(161);
    answersWith(answer(line), `${REQUIREMENTS}${MISSION}/`);
    const request = { requirementAssessmentId: MISSION, controlIds: [] };
    await expect(call(AssessmentService.method.setRequirementControls, request)).rejects.toMatchObject({
      code,
      rawMessage: expect.stringContaining(message),
    });
  });
});
