import { expect, test } from "vitest";
import { type Answers, ask, begin, builtinAgents, done, tool } from "./agent-scripts.js";

const { on, work } = builtinAgents();

test("a threat hunter prepares a hunt, asks, and records it for the next shift", async () => {
  const threat = (said: Answers) => said.cti__find_entity_by_name!.entities[0];
  const about =
    (more: object = {}) =>
    (said: Answers) => ({ object_id: threat(said).id, ...more });
  const said = await work("builtin.threat-hunter", "Hunt for one of them.", [
    ...begin("hunt-a-threat", "references/hunt-package.md"),
    tool("cti__search_entities", () => ({ types: ["Intrusion-Set"], page_size: 1 })),
    tool("cti__find_entity_by_name", (before) => ({
      name: before.cti__search_entities!.entities[0].name,
      types: ["Intrusion-Set"],
    })),
    tool("cti__get_entity", about()),
    tool("cti__list_entity_containers", about({ types: ["Grouping", "Case-Incident"] })),
    tool("cti__list_entity_notes", about()),
    tool("cti__list_entity_ttps", about({ page_size: 20 })),
    tool("cti__get_top_related_entities", about({ types: ["Malware", "Tool"], limit: 5 })),
    tool("cti__list_reports", about({ page_size: 2 })),
    tool("cti__list_entity_indicators", about({ valid_only: true, page_size: 10 })),
    tool("cti__list_sightings", (before) => ({ from_id: threat(before).id })),
    tool("cti__list_entity_relationships", about({ relationship_types: ["targets"] })),
    ask,
    tool("cti__create_grouping", (before) => ({
      name: `Hunt: ${threat(before).name}`,
      context: "suspicious-activity",
      description: "If it is here, then it left traces.",
      object_ids: [threat(before).id, ...before.cti__list_entity_ttps!.ttps.map(({ id }: { id: string }) => id)],
      refs: { markings: ["TLP:AMBER"] },
    })),
    tool("cti__create_note", (before) => ({
      object_ids: [threat(before).id, before.cti__create_grouping!.result.object.id],
      abstract: "Hunt",
      content: "Prepared; searched by the night shift.",
      refs: { markings: ["TLP:AMBER"] },
    })),
    done,
  ]);
  expect(said.load_skill!.instructions).toContain("Reading the answers");
  expect(said.cti__list_entity_ttps!.ttps.length).toBeGreaterThan(0);
  const { id } = said.cti__create_grouping!.result.object;
  const next = await on("cti", "list_entity_containers", { object_id: threat(said).id, types: ["Grouping"] });
  expect(next.containers.map((one: { id: string }) => one.id)).toContain(id);
  expect((await on("cti", "list_entity_notes", { object_id: id })).notes).toMatchObject([{ abstract: "Hunt" }]);
});

test("an exposure reviewer reads a simulation down to its targets, asks, and writes the report", async () => {
  const inTenant = (more: (said: Answers) => object) => (said: Answers) => ({
    tenant_id: said.aev__whoami!.tenants[0].id,
    ...more(said),
  });
  const simulation = (said: Answers) => said.aev__list_simulations!.simulations[0];
  const ofIt = inTenant((said) => ({ simulation_id: simulation(said).id }));
  const inject = (said: Answers) => ({ inject_id: said.aev__list_injects!.injects[0].id });
  const technique = (said: Answers) => said.aev__list_attack_patterns!.attack_patterns[0];
  const said = await work("builtin.exposure-reviewer", "How exposed are we?", [
    ...begin("review-exposure", "references/exposure-report.md"),
    tool("aev__whoami"),
    tool(
      "aev__list_simulations",
      inTenant(() => ({ statuses: ["finished"], order_by: "started", page_size: 2 })),
    ),
    tool("aev__get_simulation_results", ofIt),
    tool("aev__get_simulation_results_by_attack_pattern", ofIt),
    tool(
      "aev__list_injects",
      inTenant((before) => ({ simulation_id: simulation(before).id, with_targets: true, page_size: 5 })),
    ),
    tool("aev__get_inject_status", inTenant(inject)),
    tool(
      "aev__list_inject_targets",
      inTenant((before) => ({ ...inject(before), target_kind: "endpoint" })),
    ),
    tool(
      "aev__list_expectations",
      inTenant((before) => ({ simulation_id: simulation(before).id, statuses: ["failed"] })),
    ),
    tool(
      "aev__list_findings",
      inTenant((before) => ({ simulation_id: simulation(before).id, page_size: 5 })),
    ),
    tool(
      "aev__list_endpoints",
      inTenant(() => ({ page_size: 5 })),
    ),
    tool(
      "aev__list_attack_patterns",
      inTenant((before) => ({
        query: before.aev__get_simulation_results_by_attack_pattern!.attack_patterns[0].external_id,
      })),
    ),
    tool(
      "aev__list_mitigations",
      inTenant((before) => ({ attack_pattern_id: technique(before).id })),
    ),
    tool("aev__list_simulation_reports", ofIt),
    ask,
    tool(
      "aev__create_simulation_report",
      inTenant((before) => ({
        simulation_id: simulation(before).id,
        name: "Review",
        sections: ["main_information", "global_observation"],
        observation: "What got through comes first.",
      })),
    ),
    done,
  ]);
  const { tenants } = said.aev__whoami!;
  const there = { tenant_id: tenants[0].id, simulation_id: simulation(said).id };
  const { reports } = await on("aev", "list_simulation_reports", there);
  expect(reports).toMatchObject([{ name: "Review" }]);
});

test("a gap analyst counts, finds the reason, asks, and records a control with its requirement", async () => {
  const tenant = (said: Answers) => ({ tenant_id: said.grc__list_tenants!.tenants[0].id });
  const audit = (said: Answers) => ({ ...tenant(said), assessment_id: said.grc__list_assessments!.assessments[0].id });
  const gap = (said: Answers) => said.grc__get_requirement_assessment!.requirement_assessment;
  const said = await work("builtin.gap-analyst", "What is missing?", [
    ...begin("find-compliance-gaps", "references/gap-register.md"),
    tool("grc__list_tenants"),
    tool("grc__list_assessments", (before) => ({ ...tenant(before), status: "in_progress" })),
    tool("grc__get_assessment", audit),
    tool("grc__list_requirement_assessments", (before) => ({
      ...audit(before),
      results: ["non_compliant", "partially_compliant", "not_assessed"],
      page_size: 5,
    })),
    tool("grc__get_requirement_assessment", (before) => ({
      ...tenant(before),
      requirement_assessment_id: before.grc__list_requirement_assessments!.requirement_assessments[0].id,
    })),
    tool("grc__get_requirement", (before) => ({ ...tenant(before), requirement_id: gap(before).requirement.id })),
    tool("grc__list_controls", (before) => ({ ...tenant(before), query: "access", page_size: 5 })),
    tool("grc__list_reference_controls", (before) => ({ ...tenant(before), query: "access", page_size: 5 })),
    tool("grc__list_risk_scenarios", (before) => ({ ...tenant(before), treatments: ["open"], page_size: 5 })),
    ask,
    tool("grc__create_control", (before) => ({
      ...tenant(before),
      domain_id: gap(before).domain.id,
      name: "Quarterly access review",
      status: "to_do",
      category: "process",
    })),
    tool("grc__set_requirement_controls", (before) => ({
      ...tenant(before),
      requirement_assessment_id: gap(before).id,
      control_ids: [
        ...(gap(before).controls ?? []).map(({ id }: { id: string }) => id),
        before.grc__create_control!.control.id,
      ],
    })),
    tool("grc__update_requirement_assessment", (before) => ({
      ...tenant(before),
      requirement_assessment_id: gap(before).id,
      observation: `${gap(before).observation ?? ""} No review is recorded for Q3.`.trim(),
    })),
    done,
  ]);
  const { id } = gap(said);
  const read = await on("grc", "get_requirement_assessment", { ...tenant(said), requirement_assessment_id: id });
  const after = read.requirement_assessment;
  expect(after.result).toBe(gap(said).result);
  expect(after.observation).toContain("No review is recorded for Q3.");
  expect(after.controls.map((one: { name: string }) => one.name)).toContain("Quarterly access review");
  expect(after.controls).toHaveLength((gap(said).controls ?? []).length + 1);
});
