import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AssessmentResult } from "#proto/grc/v1/assessment_pb.js";
import { AssessmentService } from "#proto/grc/v1/assessment_service_pb.js";
import { AssetService } from "#proto/grc/v1/asset_service_pb.js";
import { ControlService } from "#proto/grc/v1/control_service_pb.js";
import { EvidenceService } from "#proto/grc/v1/evidence_service_pb.js";
import { RiskService } from "#proto/grc/v1/risk_service_pb.js";
import { seededId } from "../../../../../services/sandbox/grc/world.js";
import { type GrcHarness, startGrc } from "../../../../support/platforms/grc.js";

// The real platform reads an object, sets what a change names, and saves every
// column: of two changes at once, the second takes the first one back.

const CONTROL = seededId("applied-controls:northwind:0");
const EVIDENCE = seededId("evidences:northwind:1");
const OTHER = seededId("evidences:northwind:0");
const SECOND = seededId("evidences:northwind:2");
const LINE = seededId("requirement-assessments:northwind:csf:GV.OC-03");
const ASSET = seededId("assets:northwind:0");
const RISK = seededId("risk-scenarios:northwind:2:0");

/** How long a change takes at the platform: longer than other calls need to get there. */
let writeMs = 100;

/** Changes that were at the platform while another one of the same object was. */
const overlapping: string[] = [];
const open = new Map<string, number>();
let target = "";

const slow = createServer(async (asked, answer) => {
  const isChange = asked.method === "PATCH" || asked.url!.includes("/upload/");
  const path = asked.url!.replace(/upload\/$/, "");
  if (isChange) {
    const others = open.get(path) ?? 0;
    if (others > 0) overlapping.push(path);
    open.set(path, others + 1);
    await sleep(writeMs);
  }
  const { hostname, port } = new URL(target);
  const { method, url, headers } = asked;
  const on = request({ hostname, port, method, path: url, headers }, (reply) => {
    if (isChange) open.set(path, open.get(path)! - 1);
    answer.writeHead(reply.statusCode!, reply.headers);
    reply.pipe(answer);
  });
  asked.pipe(on);
});

let harness: GrcHarness;
beforeAll(async () => {
  await new Promise<void>((done) => slow.listen(0, "127.0.0.1", done));
  harness = await startGrc("exchange", undefined, (url) => {
    target = url;
    return `http://127.0.0.1:${(slow.address() as AddressInfo).port}`;
  });
});
afterAll(async () => {
  await harness.close();
  slow.closeAllConnections();
  slow.close();
});

test("changes of one requirement assessment take turns, whichever tools make them", async () => {
  const { updateRequirementAssessment, setRequirementControls, setRequirementEvidence } = AssessmentService.method;
  const of = { requirementAssessmentId: LINE };
  await Promise.all([
    harness.call(updateRequirementAssessment, { ...of, result: AssessmentResult.COMPLIANT }),
    harness.call(updateRequirementAssessment, { requirementAssessmentId: LINE.toUpperCase(), observation: "Seen." }),
    harness.call(setRequirementControls, { ...of, controlIds: [CONTROL] }),
    harness.call(setRequirementEvidence, { ...of, evidenceIds: [EVIDENCE] }),
    harness.call(EvidenceService.method.attachEvidence, { ...of, evidenceId: OTHER }),
  ]);
  expect(overlapping).toEqual([]);
  const score = { controlId: CONTROL, ...of, score: 3 };
  await Promise.all([
    harness.call(ControlService.method.setControlMaturity, score),
    harness.call(updateRequirementAssessment, { ...of, observation: "Seen again." }),
  ]);
  expect(overlapping).toEqual([]);
});

test("changes of one control, evidence, asset or risk scenario take turns", async () => {
  const { updateEvidence, uploadEvidenceFile, attachEvidence } = EvidenceService.method;
  const file = { evidenceId: EVIDENCE, fileName: "a.txt", contentBase64: "YQ==" };
  await Promise.all([
    harness.call(ControlService.method.updateControl, { controlId: CONTROL, description: "One." }),
    harness.call(ControlService.method.updateControl, { controlId: CONTROL, observation: "Two." }),
    harness.call(attachEvidence, { controlId: CONTROL, evidenceId: EVIDENCE }),
    harness.call(updateEvidence, { evidenceId: EVIDENCE, description: "One." }),
    harness.call(uploadEvidenceFile, file),
    harness.call(AssetService.method.updateAsset, { assetId: ASSET, description: "One." }),
    harness.call(AssetService.method.updateAsset, { assetId: ASSET, refId: "A-1" }),
    harness.call(RiskService.method.updateRiskScenario, { riskScenarioId: RISK, description: "One." }),
    harness.call(RiskService.method.updateRiskScenario, { riskScenarioId: RISK, justification: "Two." }),
  ]);
  expect(overlapping).toEqual([]);
});

test("evidence that is created for a control is not taken away by what is attached to the control meanwhile", async () => {
  const { createEvidence, attachEvidence } = EvidenceService.method;
  writeMs = 2_000;
  const attached = harness.call(attachEvidence, { controlId: CONTROL, evidenceId: SECOND });
  // By then the list of the control was read and is being written.
  await sleep(writeMs / 2);
  const { evidence: made } = await harness.call(createEvidence, { name: "Made meanwhile", controlIds: [CONTROL] });
  await attached;
  const { control } = await harness.call(ControlService.method.getControl, { controlId: CONTROL });
  expect(control!.evidence.map(({ id }) => id)).toEqual(expect.arrayContaining([made!.id, SECOND]));
});
