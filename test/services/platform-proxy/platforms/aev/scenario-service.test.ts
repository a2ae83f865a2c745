import { Code } from "@connectrpc/connect";
import { afterAll, beforeAll, expect, test } from "vitest";
import { AccountService, GrantLevel } from "#proto/aev/v1/account_service_pb.js";
import { Severity } from "#proto/aev/v1/scenario_pb.js";
import { ScenarioOrder, ScenarioService } from "#proto/aev/v1/scenario_service_pb.js";
import { SECOND_TENANT } from "../../../../../services/sandbox/aev/world.js";
import { type AevHarness, startAev } from "../../../../support/platforms/aev.js";
import { refusal } from "../../../../support/platforms/refusal.js";

const { listScenarios, getScenario, createScenario, updateScenario, deleteScenario } = ScenarioService.method;
const UNKNOWN = "00000000-0000-4000-8000-000000000000";
let stack: AevHarness;

beforeAll(async () => {
  stack = await startAev();
});
afterAll(() => stack.close());

test("whoami tells the account, its capabilities and its tenants, and no more", async () => {
  const me = await stack.call(AccountService.method.whoami, {}, "analyst");
  expect(me).toMatchObject({ email: "analyst@sallyport.example", name: "Analyst Example", unrestricted: false });
  expect(me.tenants[0]?.capabilities).toContain("LAUNCH_ASSESSMENT");
  expect(me.tenants.map(({ name }) => name)).toEqual(["Security operations"]);
  expect(await stack.call(AccountService.method.whoami, {}, "admin")).toMatchObject({ unrestricted: true });
});

test("whoami tells a grant with the object it is on", async () => {
  const { grants } = await stack.call(AccountService.method.whoami, {}, "observer");
  expect(grants).toHaveLength(1);
  expect(grants[0]).toMatchObject({ level: GrantLevel.OBSERVER });
});

test("a member of several tenants is asked to name one, and told which there are", async () => {
  const error = await refusal(stack.call(listScenarios, {}, "admin"));
  expect(error.code).toBe(Code.FailedPrecondition);
  expect(error.rawMessage).toContain(SECOND_TENANT);
  expect(error.rawMessage).toContain("Subsidiary");
  const there = await stack.call(listScenarios, { tenantId: SECOND_TENANT }, "admin");
  expect(there.totalSize).toBe(8);
});

test("a tenant that is not the caller's is refused with those that are", async () => {
  const error = await refusal(stack.call(listScenarios, { tenantId: SECOND_TENANT }, "analyst"));
  expect(error.code).toBe(Code.NotFound);
  expect(error.rawMessage).toContain("Security operations");
});

test("a member of the second tenant only acts there, though it is not the platform's default", async () => {
  const { totalSize } = await stack.call(listScenarios, {}, "outsider");
  expect(totalSize).toBe(8);
});

test("a page token of another query is refused", async () => {
  const { nextPageToken = "" } = await stack.call(listScenarios, { pageSize: 10 }, "analyst");
  const other = await refusal(
    stack.call(listScenarios, { pageSize: 10, query: "drill", pageToken: nextPageToken }, "analyst"),
  );
  expect(other.code).toBe(Code.InvalidArgument);
  expect(other.rawMessage).toContain("does not belong to this query");
  const garbage = await refusal(stack.call(listScenarios, { pageToken: "garbage!" }, "analyst"));
  expect(garbage.code).toBe(Code.InvalidArgument);
});

test("filters narrow a search, and its order is what was asked for", async () => {
  const { scenarios } = await stack.call(
    listScenarios,
    {
      severities: [Severity.HIGH, Severity.CRITICAL],
      orderBy: ScenarioOrder.NAME,
      pageSize: 100,
    },
    "analyst",
  );
  expect(scenarios.length).toBeGreaterThan(3);
  expect(scenarios.every(({ severity }) => severity === Severity.HIGH || severity === Severity.CRITICAL)).toBe(true);
  const names = scenarios.map(({ name }) => name.toLowerCase());
  expect(names).toEqual([...names].sort());
});

test("labels are searched and shown by name, and an unknown one is refused", async () => {
  const { scenarios } = await stack.call(listScenarios, { labels: ["Ransomware"], pageSize: 100 }, "analyst");
  expect(scenarios.length).toBeGreaterThan(0);
  expect(scenarios.every(({ labels }) => labels.includes("ransomware"))).toBe(true);
  const error = await refusal(stack.call(listScenarios, { labels: ["nope"] }, "analyst"));
  expect(error).toMatchObject({ code: Code.NotFound });
  expect(error.rawMessage).toContain('"nope"');
});

test("a page size above the cap is refused", async () => {
  expect(await refusal(stack.call(listScenarios, { pageSize: 101 }, "analyst"))).toMatchObject({
    code: Code.InvalidArgument,
  });
});

test("a date of change is sent as a full instant", async () => {
  const { totalSize } = await stack.call(
    listScenarios,
    {
      updatedAfter: { seconds: 1_577_836_800n },
      updatedBefore: { seconds: BigInt(Math.floor(Date.now() / 1_000) + 60) },
    },
    "analyst",
  );
  expect(totalSize).toBe(65);
});

test("a caller with a grant on one scenario sees that one", async () => {
  const { scenarios } = await stack.call(listScenarios, {}, "observer");
  expect(scenarios).toHaveLength(1);
  const id = scenarios[0]?.id ?? "";
  const { scenario } = await stack.call(getScenario, { scenarioId: id }, "observer");
  expect(scenario?.simulations).toHaveLength(2);
  expect(await refusal(stack.call(updateScenario, { scenarioId: id, name: "x" }, "observer"))).toMatchObject({
    code: Code.PermissionDenied,
  });
});

test("reading without the right is refused as the caller's own rights there", async () => {
  const error = await refusal(stack.call(getScenario, { scenarioId: UNKNOWN }, "nobody"));
  expect(error.code).toBe(Code.PermissionDenied);
  expect(error.rawMessage).toContain("needs the right ACCESS_ASSESSMENT");
});

test("a scenario of another tenant cannot be read, changed, launched or deleted, and looks like none", async () => {
  const { scenarios } = await stack.call(listScenarios, { pageSize: 1 }, "analyst");
  const scenarioId = scenarios[0]?.id ?? "";
  // The sandbox would answer: it is our own check that is tried here.
  const open = await stack.ask("outsider", "GET", `/api/tenants/${SECOND_TENANT}/scenarios/${scenarioId}`);
  expect(open.status).toBe(200);

  const unknown = await refusal(stack.call(getScenario, { scenarioId: UNKNOWN }, "outsider"));
  for (const attempt of [
    () => stack.call(getScenario, { scenarioId }, "outsider"),
    () => stack.call(updateScenario, { scenarioId, name: "taken over" }, "outsider"),
    () => stack.call(deleteScenario, { scenarioId }, "outsider"),
    async () => {
      for await (const _ of stack.stream(ScenarioService.method.launchScenario, { scenarioId }, "outsider"));
    },
  ]) {
    const error = await refusal(attempt());
    expect(error.code).toBe(Code.NotFound);
    expect(error.rawMessage.replace(scenarioId, UNKNOWN)).toBe(unknown.rawMessage);
  }
  const { scenario } = await stack.call(getScenario, { scenarioId }, "analyst");
  expect(scenario?.name).toBe(scenarios[0]?.name);
});

test("creating takes labels by name and refuses unknown ones before anything is made", async () => {
  const before = (await stack.call(listScenarios, {}, "analyst")).totalSize;
  const error = await refusal(stack.call(createScenario, { name: "Tagged", labels: ["phishing", "nope"] }, "analyst"));
  expect(error.code).toBe(Code.NotFound);
  expect((await stack.call(listScenarios, {}, "analyst")).totalSize).toBe(before);
  const { scenario } = await stack.call(
    createScenario,
    {
      name: " Tagged ",
      labels: ["phishing"],
      severity: Severity.LOW,
    },
    "analyst",
  );
  expect(scenario).toMatchObject({ name: "Tagged", labels: ["phishing"], severity: Severity.LOW });
});

test("creating without the right is refused, and a grant on another scenario does not give it", async () => {
  for (const person of ["nobody", "observer", "granted"]) {
    expect(await refusal(stack.call(createScenario, { name: "x" }, person))).toMatchObject({
      code: Code.PermissionDenied,
    });
  }
});

test("updating one field keeps every other, also those that no read tells", async () => {
  const { scenarios } = await stack.call(listScenarios, { query: "wiper, headquarters" }, "analyst");
  const scenarioId = scenarios[0]?.id ?? "";
  const before = await fullOf(scenarioId);
  expect(before.scenario_mails_reply_to).toEqual(["contact@sallyport.example"]);
  const { scenario } = await stack.call(updateScenario, { scenarioId, name: "Wiper, renamed" }, "analyst");
  expect(scenario?.name).toBe("Wiper, renamed");
  const after = await fullOf(scenarioId);
  const changed = Object.keys(after).filter((key) => JSON.stringify(after[key]) !== JSON.stringify(before[key]));
  expect(changed.sort()).toEqual(["scenario_name", "scenario_updated_at"]);
});

test("an update can clear texts and labels, and wants something to change", async () => {
  const { scenarios } = await stack.call(listScenarios, { query: "wiper, plant" }, "analyst");
  const scenarioId = scenarios[0]?.id ?? "";
  const { scenario } = await stack.call(updateScenario, { scenarioId, description: "", clearLabels: true }, "analyst");
  expect(scenario).toMatchObject({ description: "", labels: [] });
  expect(await refusal(stack.call(updateScenario, { scenarioId }, "analyst"))).toMatchObject({
    code: Code.InvalidArgument,
  });
});

test("a planner by grant changes the scenario but cannot launch it", async () => {
  const { scenarios } = await stack.call(listScenarios, {}, "granted");
  const scenarioId = scenarios[0]?.id ?? "";
  const { scenario } = await stack.call(updateScenario, { scenarioId, mainFocus: "web-filtering" }, "granted");
  expect(scenario?.mainFocus).toBe("web-filtering");
  const launch = (async () => {
    for await (const _ of stack.stream(ScenarioService.method.launchScenario, { scenarioId }, "granted"));
  })();
  expect(await refusal(launch)).toMatchObject({ code: Code.PermissionDenied });
});

test("deleting an unknown scenario is refused, though the platform calls it done", async () => {
  const open = await stack.ask("planner", "DELETE", `/api/scenarios/${UNKNOWN}`);
  expect(open.status).toBe(200);
  const error = await refusal(stack.call(deleteScenario, { tenantId: SECOND_TENANT, scenarioId: UNKNOWN }, "outsider"));
  expect(error.code).toBe(Code.NotFound);
});

test("deleting tells what is gone and which simulations stay", async () => {
  const { scenarios } = await stack.call(listScenarios, { pageSize: 1 }, "outsider");
  const scenarioId = scenarios[0]?.id ?? "";
  const reply = await stack.call(deleteScenario, { scenarioId }, "outsider");
  expect(reply).toMatchObject({ deleted: { id: scenarioId, name: scenarios[0]?.name } });
  expect(reply.simulations).toHaveLength(2);
  expect(await refusal(stack.call(getScenario, { scenarioId }, "outsider"))).toMatchObject({ code: Code.NotFound });
  expect(await refusal(stack.call(deleteScenario, { scenarioId: (await one()).id }, "analyst"))).toMatchObject({
    code: Code.PermissionDenied,
  });
});

test("a planner by grant deletes the scenario, and the grant goes with it", async () => {
  const { scenarios } = await stack.call(listScenarios, {}, "granted");
  const scenarioId = scenarios[0]?.id ?? "";
  expect(await stack.call(deleteScenario, { scenarioId }, "granted")).toMatchObject({ deleted: { id: scenarioId } });
  expect((await stack.call(listScenarios, {}, "granted")).totalSize).toBe(0);
});

async function one() {
  const { scenarios } = await stack.call(listScenarios, { pageSize: 1 }, "analyst");
  return scenarios[0] as NonNullable<(typeof scenarios)[0]>;
}

/** Everything the platform holds of a scenario: only the answer to a write tells. */
async function fullOf(scenarioId: string): Promise<Record<string, unknown>> {
  const { body } = await stack.ask("planner", "GET", `/api/scenarios/${scenarioId}`);
  const { scenario_tags } = body as { scenario_tags: string[] };
  return (await stack.ask("planner", "PUT", `/api/scenarios/${scenarioId}/tags`, { scenario_tags })).body as Record<
    string,
    unknown
  >;
}
