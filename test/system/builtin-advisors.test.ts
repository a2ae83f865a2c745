import { expect, test } from "vitest";
import { type Answers, ask, begin, builtinAgents, done, tool } from "./agent-scripts.js";

const { on, work, read } = builtinAgents();

test("a threat analyst looks an address up, finds whose it is, and reads the report that argues it", async () => {
  const { indicators } = await on("cti", "list_indicators", { query: "198.51.100.", page_size: 1 });
  const address: string = indicators[0].name;
  const match = (said: Answers) => said.cti__lookup_ioc!.matches[0];
  const threat = (said: Answers) => said.cti__list_entity_relationships!.relationships[0].other;
  const said = await read("builtin.threat-analyst", `Is ${address} bad?`, [
    ...begin("investigate-an-indicator", "references/markings.md"),
    tool("cti__lookup_ioc", () => ({ value: address.replaceAll(".", "[.]") })),
    tool("cti__get_entity", (before) => ({ object_id: match(before).indicators[0].id })),
    tool("cti__list_entity_relationships", (before) => ({
      object_id: match(before).indicators[0].id,
      relationship_types: ["indicates"],
    })),
    tool("cti__list_reports", (before) => ({ object_id: threat(before).id, page_size: 1 })),
    tool("cti__get_report", (before) => ({ report_id: before.cti__list_reports!.reports[0].id })),
    done,
  ]);
  expect(said.load_skill!.instructions).toContain("Reading the answers");
  expect(said.cti__lookup_ioc).toMatchObject({ known: true, value: address });
  expect(said.cti__get_report!.report.name).not.toBe("");
});

test("an exposure planner finds what tests a technique, asks, builds the scenario and says what it lacks", async () => {
  const inTenant = (more: (said: Answers) => object) => (said: Answers) => ({
    tenant_id: said.aev__whoami!.tenants[0].id,
    ...more(said),
  });
  const contract = (said: Answers) => said.aev__list_injector_contracts!.injector_contracts[0];
  const scenario = (said: Answers) => ({ scenario_id: said.aev__create_scenario!.scenario.id });
  const said = await work("builtin.exposure-planner", "Are we protected against one of them?", [
    ...begin("validate-a-threat", "references/reading-results.md"),
    tool("aev__whoami"),
    tool("cti__search_entities", () => ({ types: ["Intrusion-Set"], page_size: 1 })),
    tool("cti__list_entity_ttps", (before) => ({ object_id: before.cti__search_entities!.entities[0].id })),
    tool(
      "aev__list_attack_patterns",
      inTenant(() => ({ page_size: 1 })),
    ),
    tool(
      "aev__list_injector_contracts",
      inTenant((before) => ({ attack_pattern_id: before.aev__list_attack_patterns!.attack_patterns[0].id })),
    ),
    tool(
      "aev__get_injector_contract",
      inTenant((before) => ({ injector_contract_id: contract(before).id })),
    ),
    tool(
      "aev__list_endpoints",
      inTenant(() => ({ page_size: 1 })),
    ),
    ask,
    tool(
      "aev__create_scenario",
      inTenant(() => ({ name: "Would it work here?", severity: "high" })),
    ),
    tool(
      "aev__create_inject",
      inTenant((before) => ({
        ...scenario(before),
        injector_contract_id: contract(before).id,
        title: "The first step",
        endpoint_ids: [before.aev__list_endpoints!.endpoints[0].id],
      })),
    ),
    tool("aev__check_scenario_health", inTenant(scenario)),
    done,
  ]);
  const there = { tenant_id: said.aev__whoami!.tenants[0].id, ...scenario(said) };
  const { injects } = await on("aev", "list_injects", there);
  expect(injects).toMatchObject([{ title: "The first step" }]);
  const { simulations } = await on("aev", "list_simulations", there);
  expect(simulations ?? []).toEqual([]);
});

test("a compliance advisor counts, goes down to a control's evidence, and changes nothing", async () => {
  const tenant = (said: Answers) => ({ tenant_id: said.grc__list_tenants!.tenants[0].id });
  const audit = (said: Answers) => said.grc__list_assessments!.assessments[0];
  const control = (said: Answers) => ({ ...tenant(said), control_id: said.grc__list_controls!.controls[0].id });
  const said = await read("builtin.compliance-advisor", "Where do we stand?", [
    ...begin("assess-compliance", "references/observations.md"),
    tool("grc__list_tenants"),
    tool("grc__list_assessments", tenant),
    tool("grc__get_framework", (before) => ({ ...tenant(before), framework_id: audit(before).framework.id })),
    tool("grc__get_framework_tree", (before) => ({ ...tenant(before), framework_id: audit(before).framework.id })),
    tool("grc__list_requirement_assessments", (before) => ({
      ...tenant(before),
      assessment_id: audit(before).id,
      page_size: 1,
    })),
    tool("grc__get_requirement_assessment", (before) => ({
      ...tenant(before),
      requirement_assessment_id: before.grc__list_requirement_assessments!.requirement_assessments[0].id,
    })),
    tool("grc__list_controls", (before) => ({ ...tenant(before), page_size: 1 })),
    tool("grc__get_control", control),
    tool("grc__list_evidence", control),
    tool("grc__list_risk_scenarios", control),
    tool("grc__list_attack_outcomes", tenant),
    done,
  ]);
  expect(said.grc__list_requirement_assessments!.total_size).toBeGreaterThan(0);
  expect(said.grc__get_control!.control.id).toBe(control(said).control_id);
});
