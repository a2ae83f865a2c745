import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { AssessmentService } from "#proto/grc/v1/assessment_service_pb.js";
import { ControlService } from "#proto/grc/v1/control_service_pb.js";
import { EvidenceService } from "#proto/grc/v1/evidence_service_pb.js";
import { FrameworkService } from "#proto/grc/v1/framework_service_pb.js";
import { RiskService } from "#proto/grc/v1/risk_service_pb.js";
import { GrcType, TenantService } from "#proto/grc/v1/tenant_service_pb.js";
import { seededId } from "../../../../../services/sandbox/grc/world.js";
import { type GrcHarness, startGrc } from "../../../../support/platforms/grc.js";

const { listTenants, searchAll } = TenantService.method;
const NORTHWIND = seededId("folder:northwind");
const BALTIC = seededId("folder:baltic");
const LINKED = seededId("ebios-rm/operational-scenarios:northwind:1:9");

describe.each(["exchange", "bearer"] as const)("by %s", (auth) => {
  let harness: GrcHarness;
  beforeAll(async () => {
    harness = await startGrc(auth);
  });
  afterAll(() => harness.close());

  type Asked = { readonly tenantId?: string };
  const lists = [
    (r: Asked, as: string) => harness.call(ControlService.method.listControls, r, as),
    (r: Asked, as: string) => harness.call(EvidenceService.method.listEvidence, r, as),
    (r: Asked, as: string) => harness.call(FrameworkService.method.listFrameworks, r, as),
    (r: Asked, as: string) => harness.call(RiskService.method.listRiskScenarios, r, as),
    (r: Asked, as: string) => harness.call(RiskService.method.listAttackOutcomes, r, as),
    (r: Asked, as: string) => harness.call(AssessmentService.method.listRequirementAssessments, r, as),
  ];

  describe("tenants", () => {
    test("a tenant is a domain directly under the root, with the domains inside it", async () => {
      const { tenants, totalSize } = await harness.call(listTenants, {}, "admin");
      expect(tenants.map(({ name }) => name)).toEqual(["Baltic Trust Bank", "Helios Health", "Northwind Energy"]);
      expect(totalSize).toBe(3);
      expect(tenants[2]!.domains.map(({ name }) => name).sort()).toEqual([
        "Billing",
        "Grid operations",
        "Kestrel Hosting/Yearly review",
        "Retail",
      ]);
    });

    test("a list of tenants is searched and paged", async () => {
      const first = await harness.call(listTenants, { pageSize: 2 }, "admin");
      const second = await harness.call(listTenants, { pageSize: 2, pageToken: first.nextPageToken! }, "admin");
      expect(first.tenants).toHaveLength(2);
      expect(second.tenants.map(({ name }) => name)).toEqual(["Northwind Energy"]);
      expect(second.nextPageToken).toBeUndefined();
      expect((await harness.call(listTenants, { query: "BANK" }, "admin")).tenants).toHaveLength(1);
    });

    test("of a tenant seen only in part, the topmost domain seen stands for it", async () => {
      const { tenants } = await harness.call(listTenants, {}, "supplier");
      expect(tenants.map(({ name, domains }) => [name, domains.length])).toEqual([
        ["Kestrel Hosting/Yearly review", 0],
      ]);
    });

    test("who has a role in a domain sees the one above it, and what is published there", async () => {
      const { tenants } = await harness.call(listTenants, {}, "regional");
      expect(tenants.map(({ name, domains }) => [name, domains.map((d) => d.name)])).toEqual([
        ["Northwind Energy", ["Billing", "Retail"]],
      ]);
      const { controls } = await harness.call(ControlService.method.listControls, { pageSize: 100 }, "regional");
      const domains = controls.map(async ({ id: controlId }) => {
        const { control } = await harness.call(ControlService.method.getControl, { controlId }, "regional");
        return control?.domain?.name;
      });
      expect(new Set(await Promise.all(domains))).toEqual(new Set(["Northwind Energy", "Retail", "Billing"]));
    });

    test("every tool without tenant_id uses the only tenant, and is refused with the list where there are several", async () => {
      for (const list of lists) {
        await expect(list({}, "reader")).resolves.toBeDefined();
        await expect(list({}, "consultant")).rejects.toMatchObject({
          code: Code.InvalidArgument,
          rawMessage: expect.stringMatching(
            new RegExp(`${BALTIC} \\(Baltic Trust Bank\\), ${NORTHWIND} \\(Northwind Energy\\)`),
          ),
        });
        await expect(list({}, "outsider")).rejects.toMatchObject({ code: Code.FailedPrecondition });
        await expect(list({ tenantId: BALTIC }, "reader")).rejects.toMatchObject({
          code: Code.NotFound,
          rawMessage: expect.stringContaining("you have no such tenant"),
        });
      }
    });

    test("lists hold the tenant's objects and those of its domains, and nothing of another tenant", async () => {
      const of = async (tenantId: string) => {
        const { controls } = await harness.call(
          ControlService.method.listControls,
          { tenantId, pageSize: 100 },
          "consultant",
        );
        const { evidence } = await harness.call(
          EvidenceService.method.listEvidence,
          { tenantId, pageSize: 100 },
          "consultant",
        );
        const scenarios = await harness.call(
          RiskService.method.listRiskScenarios,
          { tenantId, pageSize: 100 },
          "consultant",
        );
        const outcomes = await harness.call(
          RiskService.method.listAttackOutcomes,
          { tenantId, pageSize: 100 },
          "consultant",
        );
        const lists = [controls, evidence, scenarios.riskScenarios, outcomes.attackOutcomes];
        const domains = controls.map(async ({ id: controlId }) => {
          const read = await harness.call(ControlService.method.getControl, { tenantId, controlId }, "consultant");
          return read.control?.domain?.id;
        });
        return {
          domains: new Set(await Promise.all(domains)),
          // One outcome goes by a path of the other tenant, which this caller may see.
          prefixes: new Set(
            lists.flatMap((list) => list.flatMap(({ id, name }) => (id === LINKED ? [] : name.split(" ")[0]))),
          ),
        };
      };
      for (const [tenantId, prefix] of [
        [NORTHWIND, "Northwind"],
        [BALTIC, "Baltic"],
      ] as const) {
        const { domains, prefixes } = await of(tenantId);
        expect(prefixes).toEqual(new Set([prefix]));
        expect(domains.size).toBeGreaterThan(1);
      }
    });

    test("an object of another tenant is not found, though the caller may see it there", async () => {
      const request = { tenantId: NORTHWIND, controlId: seededId("applied-controls:baltic:0") };
      const { getControl, deleteControl } = ControlService.method;
      const refused = { code: Code.NotFound };
      await expect(harness.call(getControl, request, "consultant")).rejects.toMatchObject(refused);
      await expect(harness.call(deleteControl, request, "consultant")).rejects.toMatchObject(refused);
      const hidden = harness.call(getControl, { controlId: request.controlId }, "reader");
      const unknown = harness.call(getControl, { controlId: seededId("nothing") }, "reader");
      const messages = await Promise.allSettled([hidden, unknown]);
      const [a, b] = messages.map((one) => (one.status === "rejected" ? String(one.reason.rawMessage) : ""));
      expect(a!.replace(request.controlId, "")).toBe(b!.replace(seededId("nothing"), ""));
    });
  });

  describe("search", () => {
    test("hits are the tenant's or shared, although they name their domain only by a name that both tenants use", async () => {
      const ask = (tenantId: string) => harness.call(searchAll, { tenantId, query: "retail backups" }, "consultant");
      for (const [tenantId, prefix] of [
        [NORTHWIND, "Northwind"],
        [BALTIC, "Baltic"],
      ] as const) {
        const { hits } = await ask(tenantId);
        const own = hits.filter(({ type }) => type === GrcType.CONTROL || type === GrcType.EVIDENCE);
        expect(own.length).toBeGreaterThan(0);
        expect(own.every(({ name }) => name.startsWith(prefix))).toBe(true);
      }
    });

    test("types narrow it, and libraries are found by every tenant", async () => {
      const { hits } = await harness.call(
        searchAll,
        { query: "organizational mission", types: [GrcType.REQUIREMENT] },
        "reader",
      );
      expect(new Set(hits.map(({ type }) => type))).toEqual(new Set([GrcType.REQUIREMENT]));
      expect(hits[0]).toMatchObject({
        refId: "GV.OC-01",
        domain: { name: "Global" },
        framework: { id: seededId("frameworks:nist-csf-2.0") },
      });
    });
  });
});
