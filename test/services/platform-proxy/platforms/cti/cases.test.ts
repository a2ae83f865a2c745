import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { CaseService } from "#proto/cti/v1/case_service_pb.js";
import { ContainerRecordService } from "#proto/cti/v1/container_record_service_pb.js";
import { type CtiHarness, startCti } from "../../../../support/platforms/cti.js";
import { refusal } from "../../../../support/platforms/refusal.js";
import { make, markingId } from "./asking.js";
import { fresh, makeMalware, makeSecret } from "./making.js";

const { listCases, getCase, listTasks, createCaseIncident, createCaseRfi, createCaseRft, createTask } =
  CaseService.method;
const { updateContainer, getContainer } = ContainerRecordService.method;

let harness: CtiHarness;
beforeAll(async () => {
  harness = await startCti();
});
afterAll(() => harness.close());

test("a case is made with its severity, priority, types and objects, and has its writer for an author", async () => {
  const { id } = await makeMalware(harness);
  const name = fresh("Case");
  const { result, objectCount } = await harness.call(createCaseIncident, {
    name,
    description: "What happened.",
    severity: "High",
    priority: "p1",
    responseTypes: ["ransomware"],
    objectIds: [id],
    refs: { markings: ["TLP:AMBER"] },
  });
  expect([result?.notices, objectCount]).toEqual([[], 1]);
  const caseId = result!.object!.id;
  expect(await harness.call(getCase, { caseId })).toMatchObject({
    container: {
      type: "Case-Incident",
      name,
      description: "What happened.",
      severity: "high",
      priority: "P1",
      types: ["ransomware"],
      markings: ["TLP:AMBER"],
      author: { type: "Individual", name: "Analyst" },
      objectCount: 1,
    },
    tasks: [],
    taskCount: 0,
  });
  const again = await harness.call(createCaseIncident, { name });
  expect(again.result?.notices).toEqual([`another Case-Incident with this name already existed (id ${caseId})`]);
  expect((await refusal(harness.call(getCase, { caseId }, "reader"))).code).toBe(Code.NotFound);
});

test("requests for information and takedown are cases too, each with types of its own", async () => {
  const rfi = await harness.call(createCaseRfi, { name: fresh("Case"), informationTypes: ["none"], priority: "P3" });
  const rft = await harness.call(createCaseRft, { name: fresh("Case"), takedownTypes: ["phishing"] });
  for (const [{ result }, type, types] of [
    [rfi, "Case-Rfi", ["none"]],
    [rft, "Case-Rft", ["phishing"]],
  ] as const) {
    const { container } = await harness.call(getCase, { caseId: result!.object!.id });
    expect(container).toMatchObject({ type, types });
  }
  const wrong = await refusal(harness.call(createCaseRft, { name: fresh("Case"), takedownTypes: ["ransomware"] }));
  expect(wrong.rawMessage).toBe("takedown_types: ransomware is not one of brand-abuse, phishing");
  const severity = await refusal(harness.call(createCaseRfi, { name: fresh("Case"), severity: "extreme" }));
  expect(severity.rawMessage).toBe("severity: extreme is not one of low, medium, high, critical");
});

test("nothing is made where an object is hidden, or one may not write", async () => {
  const secret = await makeSecret(harness);
  const name = fresh("Case");
  const hidden = await refusal(harness.call(createCaseIncident, { name, objectIds: [secret.id] }));
  expect(hidden.code).toBe(Code.NotFound);
  const reader = await refusal(harness.call(createCaseIncident, { name }, "reader"));
  expect(reader.code).toBe(Code.PermissionDenied);
  expect((await harness.call(listCases, { query: `"${name}"` }, "admin")).totalSize).toBe(0);
});

test("cases are listed by kind, severity and priority; a word of no vocabulary is refused", async () => {
  const all = await harness.call(listCases, {});
  expect(all.cases.length).toBeGreaterThan(0);
  const some = await harness.call(listCases, { types: ["Case-Incident"], severity: "critical", pageSize: 100 });
  expect(some.cases.length).toBeGreaterThan(0);
  for (const one of some.cases) expect(one).toMatchObject({ type: "Case-Incident", severity: "critical" });
  const wrong = await refusal(harness.call(listCases, { priority: "P9" }));
  expect(wrong.rawMessage).toBe("priority: P9 is not one of P1, P2, P3, P4");
  expect((await refusal(harness.call(listCases, { types: ["Report"] }))).rawMessage).toContain("Case-Rft");
});

test("tasks of a case carry its markings, are listed, and are changed as containers", async () => {
  const { result } = await harness.call(createCaseIncident, { name: fresh("Case"), refs: { markings: ["TLP:AMBER"] } });
  const caseId = result!.object!.id;
  const dueDate = { seconds: 1_800_000_000n, nanos: 0 };
  const made: string[] = [];
  for (const name of ["Patch", "Tell"]) {
    const task = await harness.call(createTask, { caseId, name, description: "Soon.", dueDate, labels: ["hunting"] });
    expect(task.result).toMatchObject({ notices: [], object: { name, markings: ["TLP:AMBER"], labels: ["hunting"] } });
    made.push(task.result!.object!.id);
  }
  const objectMarking = [await markingId(harness, "TLP:RED")];
  await make(harness, "Task", { name: "Hidden", objects: [caseId], objectMarking });
  const { tasks, taskCount } = await harness.call(getCase, { caseId });
  expect([tasks.map(({ id }) => id).toSorted(), taskCount]).toEqual([made.toSorted(), 2]);
  expect(tasks[0]).toMatchObject({ dueDate, description: "Soon." });
  const listed = await harness.call(listTasks, { caseId, pageSize: 1 });
  expect([listed.tasks.length, listed.totalSize]).toEqual([1, 2]);
  await harness.call(updateContainer, { containerId: made[0]!, description: "Done." });
  expect((await harness.call(getContainer, { containerId: made[0]! })).container?.description).toBe("Done.");
  // The platform shows tasks to whoever is signed in; what the tool lists is for readers of knowledge.
  const nobody = await refusal(harness.call(listTasks, {}, "nobody"));
  expect(nobody.code).toBe(Code.PermissionDenied);
});

test("a task is added to a case only", async () => {
  const { id } = await makeMalware(harness);
  const wrong = await refusal(harness.call(createTask, { caseId: id, name: "Patch" }));
  expect(wrong.rawMessage).toBe("case_id: an object of type Malware is not a case; use list_cases to find one");
  const { result } = await harness.call(createCaseRfi, { name: fresh("Case") });
  const label = await refusal(
    harness.call(createTask, { caseId: result!.object!.id, name: "Patch", labels: ["no-such-label"] }),
  );
  expect(label.rawMessage).toBe("labels: no label is called no-such-label");
});
