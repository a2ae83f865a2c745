import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AssessmentService } from "#proto/grc/v1/assessment_service_pb.js";
import { ControlService } from "#proto/grc/v1/control_service_pb.js";
import { seededId } from "../../../../../services/sandbox/grc/world.js";
import { type GrcHarness, startGrc } from "../../../../support/platforms/grc.js";

const { getControl, createControl, setControlMaturity } = ControlService.method;
const { setRequirementControls, listRequirementAssessments, getRequirementAssessment } = AssessmentService.method;
const NORTHWIND = seededId("folder:northwind");
const MFA = seededId("applied-controls:northwind:0");
const BACKUPS = seededId("applied-controls:northwind:1");
const FOREIGN = seededId("applied-controls:baltic:0");
const HIDDEN_SCORE = seededId("requirement-assessments:northwind:csf:GV.OC-01");
const SHOWN_SCORE = seededId("requirement-assessments:northwind:iso:4.1");
const LOCKED = seededId("requirement-assessments:northwind:locked:GV.OC-01");

const CLEARS = expect.stringContaining("give either control_ids or clear_controls");

describe.each(["exchange", "bearer"] as const)("by %s", (auth) => {
  let harness: GrcHarness;
  beforeAll(async () => {
    harness = await startGrc(auth);
  });
  afterAll(() => harness.close());

  describe("maturity", () => {
    const link = (requirementAssessmentId: string, controlIds: string[]) =>
      harness.call(setRequirementControls, { requirementAssessmentId, controlIds });

    test("is scored on the only requirement that the control answers, counted, and read back with its level", async () => {
      const { control } = await harness.call(createControl, { name: "Scored" });
      const controlId = control!.id;
      await expect(harness.call(setControlMaturity, { controlId, score: 40 })).rejects.toMatchObject({
        code: Code.FailedPrecondition,
        rawMessage: expect.stringContaining("not linked to any requirement"),
      });
      await link(SHOWN_SCORE, [controlId]);
      const { maturity } = await harness.call(setControlMaturity, {
        controlId,
        score: 40,
        justification: "Seen on site",
      });
      expect(maturity).toMatchObject({
        scoreVisible: true,
        minScore: 0,
        maxScore: 100,
        requirements: [{ id: SHOWN_SCORE, score: 40 }],
      });
      expect(maturity?.requirements[0]?.level).toBeUndefined();
      expect((await harness.call(getControl, { controlId })).control?.maturity).toMatchObject([
        { requirements: [{ score: 40, requirement: { refId: "4.1" } }] },
      ]);
    });

    test("is listed with the controls where asked for, a small page at a time", async () => {
      const { listControls } = ControlService.method;
      const request = { tenantId: NORTHWIND, query: "Scored", withMaturity: true };
      const { controls } = await harness.call(listControls, request);
      expect(controls).toMatchObject([
        { name: "Scored", maturity: [{ requirements: [{ score: 40, requirement: { refId: "4.1" } }] }] },
      ]);
      expect((await harness.call(listControls, { ...request, withMaturity: false })).controls[0]?.maturity).toEqual([]);
      await expect(harness.call(listControls, { ...request, pageSize: 26 })).rejects.toMatchObject({
        code: Code.InvalidArgument,
      });
    });

    test("that the audit hides is written, and said to be hidden instead of absent", async () => {
      await link(HIDDEN_SCORE, [MFA]);
      const { maturity } = await harness.call(setControlMaturity, {
        controlId: MFA,
        requirementAssessmentId: HIDDEN_SCORE,
        score: 3,
      });
      expect(maturity).toMatchObject({
        scoreVisible: false,
        minScore: 1,
        maxScore: 4,
        requirements: [{ requirement: { refId: "GV.OC-01" } }],
      });
      expect(maturity?.requirements[0]?.score).toBeUndefined();
      const written = await harness.ask(
        "admin",
        "GET",
        `/api/compliance-assessments/${seededId("compliance-assessments:northwind:csf")}/`,
      );
      expect(written.field_visibility.score.auditor).toBe("hidden");
    });

    test("outside the scale, or of a locked audit, or of a requirement not answered is refused", async () => {
      const set = (requirementAssessmentId: string, score: number, controlId = MFA) =>
        harness.call(setControlMaturity, { controlId, requirementAssessmentId, score });
      await expect(set(HIDDEN_SCORE, 9)).rejects.toMatchObject({
        code: Code.InvalidArgument,
        rawMessage: "score: must be between 1 and 4 on this scale",
      });
      await expect(set(SHOWN_SCORE, 9)).rejects.toMatchObject({
        code: Code.FailedPrecondition,
        rawMessage: expect.stringContaining("not linked to this requirement"),
      });
      await expect(link(LOCKED, [MFA])).rejects.toMatchObject({
        code: Code.FailedPrecondition,
        rawMessage: expect.stringContaining("locked"),
      });
    });

    test("of a requirement that is scored by its questions is refused instead of lost", async () => {
      const { control } = await harness.call(createControl, { name: "Asked" });
      const id = seededId("requirement-assessments:northwind:iso:A.8.1");
      await link(id, [control!.id]);
      const request = { controlId: control!.id, score: 77 };
      await expect(harness.call(setControlMaturity, request)).rejects.toMatchObject({
        code: Code.FailedPrecondition,
        rawMessage: expect.stringMatching(/the answers to the requirement's questions set its score$/),
      });
      await expect(harness.call(setControlMaturity, { ...request, justification: "Seen" })).rejects.toMatchObject({
        rawMessage: expect.stringContaining("the justification was written"),
      });
    });

    test("of a control that answers several is asked for with the list of them", async () => {
      const { control } = await harness.call(createControl, { name: "Busy" });
      const ids = ["4.2", "4.3"].map((ref) => seededId(`requirement-assessments:northwind:iso:${ref}`));
      for (const id of ids) await link(id, [control!.id]);
      await expect(harness.call(setControlMaturity, { controlId: control!.id, score: 1 })).rejects.toMatchObject({
        code: Code.InvalidArgument,
        rawMessage: expect.stringMatching(new RegExp(`${ids[0]} \\(4.2\\), ${ids[1]} \\(4.3\\)`)),
      });
    });
  });

  describe("requirements", () => {
    test("are listed without headings, with how many controls and the score, and one is read with all of it", async () => {
      const assessmentId = seededId("compliance-assessments:northwind:iso");
      const page = await harness.call(listRequirementAssessments, { assessmentId, pageSize: 100 });
      expect(page.requirementAssessments.every(({ assessable }) => assessable)).toBe(true);
      expect(page.requirementAssessments.some(({ score }) => (score ?? 0) > 0)).toBe(true);
      const row = page.requirementAssessments.find(({ controlCount }) => controlCount !== undefined)!;
      const { requirementAssessment } = await harness.call(getRequirementAssessment, {
        requirementAssessmentId: row.id,
      });
      expect(requirementAssessment?.controls).toHaveLength(row.controlCount!);
      expect(requirementAssessment).toMatchObject({
        assessment: { id: assessmentId },
        maturity: row.score === undefined ? {} : { score: row.score },
      });
      const all = await harness.call(listRequirementAssessments, { assessmentId, withHeadings: true, pageSize: 1 });
      expect(all.totalSize).toBeGreaterThan(page.totalSize);
    });

    test("of an assessment of another tenant are not found", async () => {
      const request = { tenantId: NORTHWIND, assessmentId: seededId("compliance-assessments:baltic:csf") };
      await expect(harness.call(listRequirementAssessments, request, "consultant")).rejects.toMatchObject({
        code: Code.NotFound,
      });
    });

    test("take only controls of their own tenant, also from a caller with both", async () => {
      const requirementAssessmentId = seededId("requirement-assessments:northwind:csf:GV.OC-02");
      const request = { tenantId: NORTHWIND, requirementAssessmentId, controlIds: [BACKUPS, FOREIGN] };
      await expect(harness.call(setRequirementControls, request, "consultant")).rejects.toMatchObject({
        code: Code.NotFound,
        rawMessage: expect.stringContaining("control_ids"),
      });
      const done = await harness.call(setRequirementControls, { ...request, controlIds: [BACKUPS] }, "consultant");
      expect(done.requirementAssessment?.controls.map(({ id }) => id)).toEqual([BACKUPS]);
      const nothing = harness.call(setRequirementControls, { ...request, controlIds: [] }, "consultant");
      await expect(nothing).rejects.toMatchObject({ code: Code.InvalidArgument, rawMessage: CLEARS });
      const both = { ...request, controlIds: [BACKUPS], clearControls: true };
      await expect(harness.call(setRequirementControls, both, "consultant")).rejects.toMatchObject({
        code: Code.InvalidArgument,
      });
      const clearing = { ...request, controlIds: [], clearControls: true };
      const none = await harness.call(setRequirementControls, clearing, "consultant");
      expect(none.requirementAssessment?.controls).toEqual([]);
    });

    test("keep links that the caller may not see: a list that would drop them is refused", async () => {
      const id = seededId("requirement-assessments:northwind:csf:GV.OC-03");
      await harness.ask("admin", "PATCH", `/api/requirement-assessments/${id}/`, {
        applied_controls: [BACKUPS, FOREIGN],
      });
      await expect(
        harness.call(setRequirementControls, { requirementAssessmentId: id, clearControls: true }),
      ).rejects.toMatchObject({
        code: Code.FailedPrecondition,
        rawMessage: expect.stringContaining("would remove entries that you may not see (1)"),
      });
      const after = await harness.ask("admin", "GET", `/api/requirement-assessments/${id}/`);
      expect(after.applied_controls).toHaveLength(2);
    });
  });
});
