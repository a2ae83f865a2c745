import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Person } from "../../frame/product.js";
import type { Truth } from "../../frame/table.js";
import { idOf } from "../seen.js";
import type { Stage } from "../stage.js";

/** Tools that lists' own rows do not ask as somebody whose role is gone, and what makes a call of each whole. */
const CALLS: Readonly<Record<string, (ids: Stage["world"]["ids"]) => object>> = {
  search_all: () => ({ query: "control" }),
  get_framework: (ids) => ({ framework_id: ids.plain }),
  get_tenant: () => ({}),
  list_requirements: (ids) => ({ framework_id: ids.plain }),
  list_maturity_levels: (ids) => ({ framework_id: ids.plain }),
  list_reference_controls: () => ({}),
  list_cves: () => ({}),
  get_cve: () => ({ cve_id: "CVE-2014-0160" }),
  list_quantified_scenarios: () => ({}),
  get_financial_summary: (ids) => ({ quantification_id: ids.loss }),
  get_organization: (ids) => ({ organization_id: ids.entity }),
  get_asset: (ids) => ({ asset_id: ids.asset0 }),
  get_assessment: (ids) => ({ assessment_id: ids.shown }),
  get_assessment_maturity: (ids) => ({ assessment_id: ids.shown }),
  update_requirement_assessment: (ids) => ({ requirement_assessment_id: ids.shown0, result: "compliant" }),
  set_requirement_evidence: (ids) => ({ requirement_assessment_id: ids.shown0, evidence_ids: [ids.evidence0] }),
  attach_evidence: (ids) => ({ evidence_id: ids.evidence0, control_id: ids.control0 }),
  upload_evidence_file: (ids) => ({ evidence_id: ids.evidence0, file_name: "no.txt", content_base64: "bm8=" }),
  read_evidence_file: (ids) => ({ evidence_id: ids.evidence1 }),
  delete_evidence: (ids) => ({ evidence_id: ids.evidence0 }),
  create_risk_scenario: (ids) => ({ risk_assessment_id: ids.without, name: "No" }),
  update_risk_scenario: (ids) => ({ risk_scenario_id: ids.risk0, description: "No" }),
  delete_risk_scenario: (ids) => ({ risk_scenario_id: ids.risk0 }),
  create_asset: () => ({ name: "No", type: "primary" }),
  update_asset: (ids) => ({ asset_id: ids.asset0, description: "No" }),
  delete_asset: (ids) => ({ asset_id: ids.asset0 }),
  get_framework_tree: (ids) => ({ framework_id: ids.plain }),
  get_control: (ids) => ({ control_id: ids.control0 }),
  get_evidence: (ids) => ({ evidence_id: ids.evidence0 }),
  get_requirement_assessment: (ids) => ({ requirement_assessment_id: ids.shown0 }),
  get_risk_scenario: (ids) => ({ risk_scenario_id: ids.risk0 }),
  get_attack_outcome: (ids) => ({ attack_outcome_id: ids.attack0 }),
  create_control: () => ({ name: "No" }),
  update_control: (ids) => ({ control_id: ids.control0, description: "No" }),
  delete_control: (ids) => ({ control_id: ids.control0 }),
  set_control_maturity: (ids) => ({ control_id: ids.control0, score: 1 }),
  set_requirement_controls: (ids) => ({ requirement_assessment_id: ids.shown0, control_ids: [ids.control0] }),
  create_evidence: () => ({ name: "No" }),
  update_evidence: (ids) => ({ evidence_id: ids.evidence0, description: "No" }),
};

/** One person whom the product has seen at work, and who has no role any more. */
const gone = new WeakMap<Stage, Promise<Person>>();

async function leave(stage: Stage): Promise<Person> {
  const { run, ids, emails } = stage.world;
  const need = (method: string, path: string, body?: object) =>
    stage.platform.need(emails.administrator!, method, path, body);
  const email = `leaver-${run}@truth.test`;
  const groups = await stage.platform.list(emails.administrator!, "/api/user-groups/");
  const reader = groups.find((one) => idOf(one.folder) === ids.alpha && /Reader|BI-UG-AUD/.test(`${one.name}`))!;
  const user: Row = await need("POST", "/api/users/", { email, first_name: "leaver", last_name: run });
  ids.leaver = user.id;
  await need("PATCH", `/api/users/${user.id}/`, { user_groups: [reader.id] });
  const person = await stage.product.person("leaver", email);
  // A role that was given acts some seconds later.
  for (let i = 0; i < 40 && (await person.ask("list_controls")).result === undefined; i++) await sleep(1_000);
  await person.get("list_controls");
  await need("PATCH", `/api/users/${user.id}/`, { user_groups: [] });
  return person;
}

function leaverOf(stage: Stage): Promise<Person> {
  const found = gone.get(stage) ?? leave(stage);
  gone.set(stage, found);
  return found;
}

/** What those meet who had a role and lost it. */
export const leaverTruths: readonly Truth<Stage>[] = [
  {
    tool: "whoami",
    cases: [
      {
        about: "who lost the only role is open to no tenant",
        as: ["leaver"],
        async prove(stage) {
          const { result, text } = await (await leaverOf(stage)).ask("whoami");
          expect(result?.tenants ?? []).toEqual([]);
          expect(text).not.toContain(stage.world.ids.alpha);
        },
      },
    ],
  },
  {
    tool: "list_tenants",
    cases: [
      {
        about: "who lost the only role has none",
        as: ["leaver"],
        async prove(stage) {
          const { result, refusal } = await (await leaverOf(stage)).ask("list_tenants");
          if (result === undefined) expect(refusal).toMatch(/you have no tenant|unknown tool/);
          else expect(result.total_size).toBe(0);
        },
      },
    ],
  },
  ...Object.entries(CALLS).map(([tool, args]) => ({
    tool,
    cases: [
      {
        about: "who lost the only role is told so",
        as: ["leaver"],
        async prove(stage: Stage) {
          const { refusal } = await (await leaverOf(stage)).ask(tool, args(stage.world.ids));
          // Of a write it is the right that is missing.
          expect(refusal).toMatch(/you have no tenant|needs the rights? (?:add|change|delete|view)_/);
        },
      },
    ],
  })),
];
