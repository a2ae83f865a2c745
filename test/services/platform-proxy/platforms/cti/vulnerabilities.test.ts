import { afterAll, beforeAll, expect, test } from "vitest";
import { VulnerabilityService } from "#proto/cti/v1/vulnerability_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { make, markingId, relate } from "./asking.js";

const { listVulnerabilities, lookupVulnerability } = VulnerabilityService.method;

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
});
afterAll(() => harness.close());

test("vulnerabilities are listed by what is known of their exploitation", async () => {
  const scores = {
    x_opencti_cvss_base_score: 9.8,
    x_opencti_cvss_base_severity: "CRITICAL",
    x_opencti_epss_score: 0.91,
  };
  const wanted = await make(harness, "Vulnerability", { name: "CVE-2027-1", ...scores, x_opencti_cisa_kev: true });
  await make(harness, "Vulnerability", { name: "CVE-2027-2", ...scores });
  await make(harness, "Vulnerability", { name: "CVE-2027-3", x_opencti_cisa_kev: true });
  const request = { query: "CVE-2027", minCvss: 9.8, minEpss: 0.9, kevOnly: true };
  expect(await harness.call(listVulnerabilities, request)).toMatchObject({
    vulnerabilities: [
      { id: wanted, name: "CVE-2027-1", cvssScore: 9.8, cvssSeverity: "CRITICAL", kev: true, epssScore: 0.91 },
    ],
    totalSize: 1,
  });
  const all = await harness.call(listVulnerabilities, { query: "CVE-2027" });
  const unscored = all.vulnerabilities.find(({ name }) => name === "CVE-2027-3");
  expect([all.totalSize, unscored?.cvssScore, unscored?.epssScore]).toEqual([3, undefined, undefined]);
});

test("one is looked up by its name in any case, with who exploits it as far as the caller may see", async () => {
  const id = await make(harness, "Vulnerability", {
    name: "CVE-2027-44",
    description: "A flaw.",
    x_opencti_aliases: ["Doorstop"],
    x_opencti_cwe: ["CWE-79"],
  });
  const objectMarking = [await markingId(harness, "TLP:RED")];
  const malware = await make(harness, "Malware", { name: "Exploiting malware" });
  const hidden = await make(harness, "Malware", { name: "Hidden exploiter", objectMarking });
  for (const one of [malware, hidden]) await relate(harness, one, "exploits", id);
  await relate(harness, malware, "exploits", id, { start_time: "2026-01-01T00:00:00.000Z" });
  const set = await make(harness, "Intrusion-Set", { name: "Targeting set" });
  await relate(harness, set, "targets", id);
  const remedy = await make(harness, "Course-Of-Action", { name: "Patch it" });
  await relate(harness, remedy, "mitigates", id);
  await make(harness, "Grouping", { name: "Holds the flaw", context: "unspecified", objects: [id] });
  for (const name of ["cve-2027-44", " Doorstop "]) {
    const { known, vulnerability } = await harness.call(lookupVulnerability, { name });
    expect([known, vulnerability?.exploitedBy.map((one) => one.id).toSorted()]).toEqual([
      true,
      [malware, set].toSorted(),
    ]);
    expect(vulnerability).toMatchObject({
      id,
      description: "A flaw.",
      aliases: ["Doorstop"],
      cwes: ["CWE-79"],
      mitigatedBy: [{ id: remedy, name: "Patch it" }],
      containers: 1,
    });
  }
  const admin = await harness.call(lookupVulnerability, { name: "CVE-2027-44" }, "admin");
  expect(admin.vulnerability?.exploitedBy).toHaveLength(3);
  expect(await harness.call(lookupVulnerability, { name: "CVE-2027-4" })).toMatchObject({ known: false });
});

test("a vulnerability that is hidden is not known", async () => {
  const objectMarking = [await markingId(harness, "TLP:RED")];
  await make(harness, "Vulnerability", { name: "CVE-2027-99", objectMarking });
  const { known, vulnerability } = await harness.call(lookupVulnerability, { name: "CVE-2027-99" });
  expect([known, vulnerability]).toEqual([false, undefined]);
});
