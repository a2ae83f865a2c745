import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AssetService, AssetType } from "#proto/grc/v1/asset_service_pb.js";
import {
  ControlCategory,
  ControlEffort,
  ControlOrder,
  ControlService,
  ControlStatus,
  CsfFunction,
} from "#proto/grc/v1/control_service_pb.js";
import { EvidenceService } from "#proto/grc/v1/evidence_service_pb.js";
import { seededId } from "../../../../../services/sandbox/grc/world.js";
import { type GrcHarness, startGrc } from "../../../../support/platforms/grc.js";

const { listControls, getControl, createControl, updateControl, deleteControl } = ControlService.method;
const NORTHWIND = seededId("folder:northwind");
const MFA = seededId("applied-controls:northwind:0");
const BACKUPS = seededId("applied-controls:northwind:1");

describe.each(["exchange", "bearer"] as const)("by %s", (auth) => {
  let harness: GrcHarness;
  beforeAll(async () => {
    harness = await startGrc(auth);
  });
  afterAll(() => harness.close());

  test("a link is a web address, and nothing is written with another one", async () => {
    const before = (await harness.call(listControls, {})).totalSize;
    for (const link of [
      "urn:isbn:1",
      "javascript:alert(1)",
      "mailto:a@b.example",
      "https:wiki.example",
      "https:///wiki",
    ]) {
      const linked = harness.call(createControl, { name: "Linked", link });
      await expect(linked).rejects.toMatchObject({
        code: Code.InvalidArgument,
        rawMessage: expect.stringMatching(/^link: /),
      });
      await expect(harness.call(updateControl, { controlId: MFA, link })).rejects.toMatchObject({
        code: Code.InvalidArgument,
      });
    }
    expect((await harness.call(listControls, {})).totalSize).toBe(before);
  });

  test("a link may have letters of any language, wherever it is written", async () => {
    const link = "https://bücher.example/Übersicht?q=ä#ö";
    const { control } = await harness.call(createControl, { name: "Linked abroad", link });
    expect(control?.link).toBe(link);
    const controlId = control!.id;
    const { control: changed } = await harness.call(updateControl, { controlId, link: `${link}2` });
    expect(changed?.link).toBe(`${link}2`);
    await harness.call(deleteControl, { controlId });
    const { createAsset, updateAsset } = AssetService.method;
    const made = await harness.call(createAsset, { name: "Linked abroad", type: AssetType.PRIMARY, link });
    expect(made.asset?.link).toBe(link);
    const moved = await harness.call(updateAsset, { assetId: made.asset!.id, link: `${link}2` });
    expect(moved.asset?.link).toBe(`${link}2`);
    const { createEvidence, updateEvidence } = EvidenceService.method;
    const proof = await harness.call(createEvidence, { name: "Linked abroad", link });
    expect(proof.evidence?.link).toBe(link);
    const proved = await harness.call(updateEvidence, { evidenceId: proof.evidence!.id, link: `${link}2` });
    expect(proved.evidence?.link).toBe(`${link}2`);
  });

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
        harness.call(listControls, { pageSize: 5, pageToken: pageToken!, query: "mfa" }),
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
      const read = controls.slice(0, 5).map(({ id }) => harness.call(getControl, { controlId: id }));
      expect(new Set((await Promise.all(read)).map(({ control }) => control?.domain?.id))).toEqual(
        new Set([NORTHWIND]),
      );
      const all = await harness.call(listControls, { pageSize: 100 });
      expect(controls.length).toBeLessThan(all.totalSize);
      await expect(
        harness.call(listControls, { domainId: seededId("folder:baltic") }, "officer"),
      ).rejects.toMatchObject({
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
        rawMessage: expect.stringContaining("another object of this domain already uses it"),
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
      const { controls } = await harness.call(listControls, { query: "Linked" });
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
      await expect(harness.call(updateControl, { controlId: control!.id, progress: 60 })).rejects.toMatchObject({
        code: Code.FailedPrecondition,
        rawMessage: expect.stringContaining("always has 100 percent"),
      });
      const degraded = { controlId: control!.id, progress: 60, status: ControlStatus.DEGRADED };
      expect((await harness.call(updateControl, degraded)).control?.progress).toBe(60);
    });

    test("names how many related objects the caller may not see, and none of them", async () => {
      const direct = seededId("evidences:baltic:1");
      const evidences = [seededId("evidences:northwind:0"), direct];
      await harness.ask("admin", "PATCH", `/api/applied-controls/${MFA}/`, { evidences });
      const { control } = await harness.call(getControl, { controlId: MFA }, "reader");
      expect(control?.hiddenLinks).toBe(1);
      expect(control?.evidence.map(({ id }) => id)).toEqual([seededId("evidences:northwind:0")]);
    });

    test("is not changed or deleted by who may only read, in words that say so", async () => {
      const refused = {
        code: Code.PermissionDenied,
        rawMessage: expect.stringContaining("may see this in CISO Assistant but not change it"),
      };
      await expect(harness.call(updateControl, { controlId: BACKUPS, priority: 4 }, "reader")).rejects.toMatchObject(
        refused,
      );
      await expect(harness.call(deleteControl, { controlId: BACKUPS }, "analyst")).rejects.toMatchObject(refused);
      await expect(harness.call(createControl, { name: "No" }, "reader")).rejects.toMatchObject({
        code: Code.PermissionDenied,
        rawMessage: expect.stringContaining("may not add objects to this domain"),
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
});
