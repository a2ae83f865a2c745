import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AssessmentService } from "#proto/grc/v1/assessment_service_pb.js";
import {
  ControlCategory,
  ControlEffort,
  ControlOrder,
  ControlService,
  ControlStatus,
  CsfFunction,
} from "#proto/grc/v1/control_service_pb.js";
import { seededId } from "../../../../services/platform-proxy/sandbox/grc/world.js";
import { type Harness, startHarness } from "./harness.js";

const { listControls, getControl, createControl, updateControl, deleteControl, setControlMaturity } =
  ControlService.method;
const { linkControlsToRequirement, listRequirementAssessments } = AssessmentService.method;
const NORTHWIND = seededId("folder:northwind");
const MFA = seededId("applied-controls:northwind:0");
const BACKUPS = seededId("applied-controls:northwind:1");
const FOREIGN = seededId("applied-controls:baltic:0");
const HIDDEN_SCORE = seededId("requirement-assessments:northwind:csf:GV.OC-01");
const SHOWN_SCORE = seededId("requirement-assessments:northwind:iso:4.1");
const LOCKED = seededId("requirement-assessments:northwind:locked:GV.OC-01");

let harness: Harness;
beforeAll(async () => {
  harness = await startHarness("exchange");
});
afterAll(() => harness.close());

describe("lists", () => {
  test("filters by state, category, function and priority, and says the codes' words", async () => {
    const { controls, totalSize } = await harness.call(listControls, {
      statuses: [ControlStatus.ACTIVE, ControlStatus.IN_PROGRESS],
      category: ControlCategory.TECHNICAL,
      csfFunction: CsfFunction.PROTECT,
      priority: 1,
      pageSize: 100,
    });
    expect(totalSize).toBe(controls.length);
    expect(controls.length).toBeGreaterThan(2);
    for (const control of controls) {
      expect([ControlStatus.ACTIVE, ControlStatus.IN_PROGRESS]).toContain(control.status);
      expect(control).toMatchObject({
        category: ControlCategory.TECHNICAL,
        csfFunction: CsfFunction.PROTECT,
        priority: 1,
      });
    }
  });

  test("pages hold every control once, in the order asked for", async () => {
    const names: string[] = [];
    let pageToken: string | undefined;
    do {
      const page = await harness.call(listControls, {
        orderBy: ControlOrder.NAME,
        pageSize: 33,
        ...(pageToken !== undefined && { pageToken }),
      });
      expect(page.totalSize).toBe(120);
      names.push(...page.controls.map(({ name }) => name));
      pageToken = page.nextPageToken;
    } while (pageToken !== undefined);
    expect(names).toHaveLength(120);
    expect(names).toEqual([...new Set(names)].sort());
  });

  test("a token of another query, of another tenant, or made up is refused", async () => {
    const { nextPageToken: pageToken } = await harness.call(listControls, { pageSize: 5 });
    const refused = { code: Code.InvalidArgument, rawMessage: expect.stringContaining("page_token") };
    await expect(
      harness.call(listControls, { pageSize: 5, pageToken: pageToken!, search: "mfa" }),
    ).rejects.toMatchObject(refused);
    await expect(harness.call(listControls, { pageToken: pageToken! }, "manager")).rejects.toMatchObject(refused);
    await expect(harness.call(listControls, { pageToken: "bm90IGEgdG9rZW4" })).rejects.toMatchObject(refused);
    await expect(harness.call(listControls, { pageSize: 7, pageToken: pageToken! })).resolves.toBeDefined();
  });

  test("a page above the cap is refused", async () => {
    await expect(harness.call(listControls, { pageSize: 101 })).rejects.toMatchObject({ code: Code.InvalidArgument });
  });

  test("a domain holds its own controls only, and must be the tenant's", async () => {
    const { controls } = await harness.call(listControls, { domainId: NORTHWIND, pageSize: 100 });
    expect(new Set(controls.map(({ domain }) => domain?.id))).toEqual(new Set([NORTHWIND]));
    await expect(harness.call(listControls, { domainId: seededId("folder:baltic") }, "officer")).rejects.toMatchObject({
      code: Code.NotFound,
    });
  });
});

describe("one control", () => {
  test("is created in the tenant, with codes of the platform, and read back", async () => {
    const { control } = await harness.call(createControl, {
      name: "Badge review",
      status: ControlStatus.TO_DO,
      category: ControlCategory.PROCEDURE,
      csfFunction: CsfFunction.GOVERN,
      priority: 2,
      effort: ControlEffort.EXTRA_SMALL,
      impact: 4,
      eta: "2027-01-31",
      referenceControlId: seededId("reference-controls:CTL.01"),
      ownerActorIds: [seededId("actor:officer")],
      evidenceIds: [seededId("evidences:northwind:0")],
    });
    expect(control).toMatchObject({
      name: "Badge review",
      status: ControlStatus.TO_DO,
      category: ControlCategory.PROCEDURE,
      csfFunction: CsfFunction.GOVERN,
      priority: 2,
      effort: ControlEffort.EXTRA_SMALL,
      impact: 4,
      eta: "2027-01-31",
      domain: { id: NORTHWIND, name: "Northwind Energy" },
      referenceControl: { id: seededId("reference-controls:CTL.01") },
      owners: [{ name: "Officer User" }],
      evidence: [{ id: seededId("evidences:northwind:0") }],
    });
  });

  test("is created in a domain of the tenant, never in the root", async () => {
    const domainId = seededId("folder:northwind-billing");
    const { control } = await harness.call(
      createControl,
      { tenantId: NORTHWIND, domainId, name: "Root check" },
      "admin",
    );
    expect(control?.domain?.id).toBe(domainId);
    const outside = { tenantId: NORTHWIND, domainId: seededId("folder:baltic"), name: "Elsewhere" };
    await expect(harness.call(createControl, outside, "admin")).rejects.toMatchObject({ code: Code.NotFound });
  });

  test("whose pair of reference and name is taken is refused as a duplicate", async () => {
    await harness.call(createControl, { name: "Twice" });
    await expect(harness.call(createControl, { name: "Twice" })).rejects.toMatchObject({
      code: Code.AlreadyExists,
      rawMessage: expect.stringContaining("already used in this scope"),
    });
    await expect(harness.call(createControl, { name: "Twice", refId: "T-2" })).resolves.toBeDefined();
  });

  test("refers only to what the tenant owns and the caller sees", async () => {
    const foreign = { name: "Linked", evidenceIds: [seededId("evidences:baltic:0")] };
    await expect(harness.call(createControl, foreign)).rejects.toMatchObject({ code: Code.NotFound });
    const across = { ...foreign, tenantId: NORTHWIND };
    await expect(harness.call(createControl, across, "consultant")).rejects.toMatchObject({ code: Code.NotFound });
    const user = { name: "Owned", ownerActorIds: [seededId("user:officer")] };
    await expect(harness.call(createControl, user)).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: expect.stringContaining("owner_actor_ids"),
    });
    const { controls } = await harness.call(listControls, { search: "Linked" });
    expect(controls).toEqual([]);
  });

  test("keeps what is not mentioned, and loses what is emptied", async () => {
    const { control } = await harness.call(createControl, { name: "Kept", description: "First", eta: "2027-02-01" });
    const changed = await harness.call(updateControl, { controlId: control!.id, eta: "", priority: 3 });
    expect(changed.control).toMatchObject({ name: "Kept", description: "First", priority: 3 });
    expect(changed.control?.eta).toBeUndefined();
  });

  test("that becomes active is at 100 per cent, and the answer says so", async () => {
    const { control } = await harness.call(createControl, { name: "Switched on" });
    const request = { controlId: control!.id, status: ControlStatus.ACTIVE };
    await expect(harness.call(updateControl, { ...request, progress: 60 })).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: expect.stringContaining("always at 100 per cent"),
    });
    expect((await harness.call(updateControl, request)).control?.progress).toBe(100);
  });

  test("names how many related objects the caller may not see, and none of them", async () => {
    const direct = seededId("evidences:baltic:1");
    await linkDirectly(MFA, [seededId("evidences:northwind:0"), direct]);
    const { control } = await harness.call(getControl, { controlId: MFA }, "reader");
    expect(control?.hiddenLinks).toBe(1);
    expect(control?.evidence.map(({ id }) => id)).toEqual([seededId("evidences:northwind:0")]);
  });

  test("is not changed or deleted by who may only read, in words that say so", async () => {
    const refused = {
      code: Code.PermissionDenied,
      rawMessage: expect.stringContaining("may see this on the grc platform but not change it"),
    };
    await expect(harness.call(updateControl, { controlId: BACKUPS, priority: 4 }, "reader")).rejects.toMatchObject(
      refused,
    );
    await expect(harness.call(deleteControl, { controlId: BACKUPS }, "analyst")).rejects.toMatchObject(refused);
    await expect(harness.call(createControl, { name: "No" }, "reader")).rejects.toMatchObject({
      code: Code.PermissionDenied,
      rawMessage: expect.stringContaining("may not add objects in this domain"),
    });
  });

  test("that is deleted is gone, and is named in the answer", async () => {
    const { control } = await harness.call(createControl, { name: "Short-lived" });
    const controlId = control!.id;
    expect((await harness.call(deleteControl, { controlId })).deleted).toMatchObject({
      id: controlId,
      name: "Short-lived",
    });
    await expect(harness.call(getControl, { controlId })).rejects.toMatchObject({ code: Code.NotFound });
    await expect(harness.call(deleteControl, { controlId })).rejects.toMatchObject({ code: Code.NotFound });
  });
});

describe("maturity", () => {
  const link = (requirementAssessmentId: string, controlIds: string[]) =>
    harness.call(linkControlsToRequirement, { requirementAssessmentId, controlIds });

  test("is scored on the only requirement that the control answers, counted, and read back with its level", async () => {
    const { control } = await harness.call(createControl, { name: "Scored" });
    const controlId = control!.id;
    await expect(harness.call(setControlMaturity, { controlId, score: 40 })).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining("answers no requirement"),
    });
    await link(SHOWN_SCORE, [controlId]);
    const { maturity } = await harness.call(setControlMaturity, {
      controlId,
      score: 40,
      justification: "Seen on site",
    });
    expect(maturity).toMatchObject({
      requirementAssessmentId: SHOWN_SCORE,
      scoreVisible: true,
      score: 40,
      minScore: 0,
      maxScore: 100,
    });
    expect(maturity?.level).toBeUndefined();
    expect((await harness.call(getControl, { controlId })).control?.maturity).toMatchObject([
      { score: 40, requirementRefId: "4.1" },
    ]);
  });

  test("that the audit hides is written, and said to be hidden instead of absent", async () => {
    await link(HIDDEN_SCORE, [MFA]);
    const { maturity } = await harness.call(setControlMaturity, {
      controlId: MFA,
      requirementAssessmentId: HIDDEN_SCORE,
      score: 3,
    });
    expect(maturity).toMatchObject({ scoreVisible: false, minScore: 1, maxScore: 4, requirementRefId: "GV.OC-01" });
    expect(maturity?.score).toBeUndefined();
    const written = await asAdmin(
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
      rawMessage: expect.stringContaining("does not answer this requirement"),
    });
    await expect(link(LOCKED, [MFA])).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining("locked"),
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
  test("are listed without headings, with their controls and scores", async () => {
    const assessmentId = seededId("compliance-assessments:northwind:iso");
    const page = await harness.call(listRequirementAssessments, { assessmentId, pageSize: 100 });
    expect(page.requirementAssessments.every(({ assessable }) => assessable)).toBe(true);
    expect(page.requirementAssessments.some(({ controls }) => controls.length > 0)).toBe(true);
    expect(page.requirementAssessments.some(({ maturity }) => (maturity?.score ?? 0) > 0)).toBe(true);
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
    await expect(harness.call(linkControlsToRequirement, request, "consultant")).rejects.toMatchObject({
      code: Code.NotFound,
      rawMessage: expect.stringContaining("control_ids"),
    });
    const done = await harness.call(linkControlsToRequirement, { ...request, controlIds: [BACKUPS] }, "consultant");
    expect(done.requirementAssessment?.controls.map(({ id }) => id)).toEqual([BACKUPS]);
    const none = await harness.call(linkControlsToRequirement, { ...request, controlIds: [] }, "consultant");
    expect(none.requirementAssessment?.controls).toEqual([]);
  });

  test("keep links that the caller may not see: a list that would drop them is refused", async () => {
    const id = seededId("requirement-assessments:northwind:csf:GV.OC-03");
    await asAdmin("PATCH", `/api/requirement-assessments/${id}/`, { applied_controls: [BACKUPS, FOREIGN] });
    await expect(
      harness.call(linkControlsToRequirement, { requirementAssessmentId: id, controlIds: [] }),
    ).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage: expect.stringContaining("1 controls that you may not see"),
    });
    const after = await asAdmin("GET", `/api/requirement-assessments/${id}/`);
    expect(after.applied_controls).toHaveLength(2);
  });
});

interface Answer {
  readonly meta: { readonly access_token: string };
  readonly field_visibility: { readonly score: { readonly auditor: string } };
  readonly applied_controls: readonly unknown[];
}

/** Does something at the platform as its administrator, past the service. */
async function asAdmin(method: string, path: string, body?: unknown) {
  const id_token = await harness.issuer.sign({ aud: "sallyport-grc", sub: "admin", email: "admin@sallyport.example" });
  const send = (where: string, verb: string, authorization: string | undefined, json: unknown) =>
    fetch(`${harness.sandbox.url}${where}`, {
      method: verb,
      headers: { "content-type": "application/json", ...(authorization !== undefined && { authorization }) },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    }).then((reply) => reply.json() as Promise<Answer>);
  const token = { client_id: "sallyport-grc", id_token };
  const login = { provider: "openid_connect", process: "login", token };
  const { meta } = await send("/api/_allauth/app/v1/auth/provider/token", "POST", undefined, login);
  return send(path, method, `Token ${meta.access_token}`, body);
}

function linkDirectly(control: string, evidences: string[]) {
  return asAdmin("PATCH", `/api/applied-controls/${control}/`, { evidences });
}
