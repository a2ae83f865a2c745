import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { EvidenceService, EvidenceStatus } from "#proto/grc/v1/evidence_service_pb.js";
import { seededId } from "../../../../../services/sandbox/grc/world.js";
import { type GrcHarness, startGrc } from "../../../../support/platforms/grc.js";

const { listEvidence, createEvidence, updateEvidence } = EvidenceService.method;
const NORTHWIND = seededId("folder:northwind");
const MFA = seededId("applied-controls:northwind:0");
const OWN = seededId("evidences:northwind:1");
const FOREIGN = seededId("evidences:baltic:1");

describe.each(["exchange", "bearer"] as const)("by %s", (auth) => {
  let harness: GrcHarness;
  beforeAll(async () => {
    harness = await startGrc(auth);
  });
  afterAll(() => harness.close());

  const find = async (id: string, as: string) =>
    (await harness.call(listEvidence, { pageSize: 100 }, as)).evidence.find((one) => one.id === id);

  test("evidence is listed by state and by control", async () => {
    const { evidence } = await harness.call(listEvidence, { statuses: [EvidenceStatus.APPROVED], pageSize: 100 });
    expect(evidence.length).toBeGreaterThan(5);
    expect(new Set(evidence.map(({ status }) => status))).toEqual(new Set([EvidenceStatus.APPROVED]));
    const ofControl = await harness.call(listEvidence, { controlId: MFA });
    expect(ofControl.evidence.map(({ id }) => id)).toEqual([seededId("evidences:northwind:0")]);
    await expect(
      harness.call(listEvidence, { controlId: seededId("applied-controls:baltic:0") }),
    ).rejects.toMatchObject({
      code: Code.NotFound,
    });
  });

  test("evidence is recorded as a draft, tied to controls of the tenant, and read back", async () => {
    const { evidence } = await harness.call(createEvidence, {
      name: "Policy page",
      link: "https://wiki.example/mfa",
      controlIds: [MFA],
    });
    expect(evidence).toMatchObject({
      name: "Policy page",
      status: EvidenceStatus.DRAFT,
      link: "https://wiki.example/mfa",
      domain: { id: NORTHWIND },
      controls: [{ id: MFA, name: "Northwind MFA for administrators" }],
    });
    const across = { tenantId: NORTHWIND, name: "Across", controlIds: [seededId("applied-controls:baltic:0")] };
    await expect(harness.call(createEvidence, across, "consultant")).rejects.toMatchObject({ code: Code.NotFound });
  });

  test("a new link is a new version in review, and a status given with it wins", async () => {
    const changed = await harness.call(updateEvidence, {
      evidenceId: OWN,
      link: "https://wiki.example/v2",
      versionNote: "renewed",
    });
    expect(changed.evidence).toMatchObject({ link: "https://wiki.example/v2", status: EvidenceStatus.IN_REVIEW });
    const approved = await harness.call(updateEvidence, {
      evidenceId: OWN,
      link: "https://wiki.example/v3",
      status: EvidenceStatus.APPROVED,
      description: "Third",
    });
    expect(approved.evidence).toMatchObject({
      link: "https://wiki.example/v3",
      status: EvidenceStatus.APPROVED,
      description: "Third",
    });
  });

  test("no version is added to evidence of another tenant, and its status stays", async () => {
    const before = await find(FOREIGN, "manager");
    const sent = harness.sandbox.audit.length;
    const link = "https://other.example/";
    await expect(harness.call(updateEvidence, { evidenceId: FOREIGN, link })).rejects.toMatchObject({
      code: Code.NotFound,
    });
    const across = { tenantId: NORTHWIND, evidenceId: FOREIGN, link };
    await expect(harness.call(updateEvidence, across, "consultant")).rejects.toMatchObject({ code: Code.NotFound });
    expect(await find(FOREIGN, "manager")).toEqual(before);
    const writes = harness.sandbox.audit.slice(sent).filter(({ verb }) => verb !== "GET");
    expect(writes).toEqual([]);
  });

  test("who may only read evidence does not send it to review by trying", async () => {
    const id = seededId("evidences:northwind:8");
    const before = await find(id, "reader");
    await expect(
      harness.call(updateEvidence, { evidenceId: id, link: "https://x.example/" }, "reader"),
    ).rejects.toMatchObject({
      code: Code.PermissionDenied,
    });
    expect(await find(id, "reader")).toEqual(before);
  });
});
