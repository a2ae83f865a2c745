// A call of every grc tool that uses each right of the tool, on objects that somebody who may do everything prepares.

/** What a tool answers, as JSON. */
// biome-ignore lint/suspicious/noExplicitAny: ids are taken from it, and a wrong path fails the call that follows.
export type Told = any;

/** Calls a tool as the person who prepares. */
export type Prepare = (tool: string, args?: object) => Promise<Told>;

/** The arguments of some calls of one tool. */
type Calls = (prepare: Prepare) => Promise<readonly object[]>;

let made = 0;
const fresh = (noun: string): string => `${noun} of a role ${++made}`;

const control = async (prepare: Prepare): Promise<string> =>
  (await prepare("create_control", { name: fresh("Control") })).control.id;
const asset = async (prepare: Prepare): Promise<string> =>
  (await prepare("create_asset", { name: fresh("Asset"), type: "primary" })).asset.id;
const evidence = async (prepare: Prepare): Promise<string> =>
  (await prepare("create_evidence", { name: fresh("Evidence"), link: "https://example.com/first" })).evidence.id;
const requirement = async (prepare: Prepare): Promise<string> =>
  (await prepare("list_requirement_assessments", { page_size: 1 })).requirement_assessments[0].id;
const riskAssessment = async (prepare: Prepare): Promise<string> =>
  (await prepare("list_risk_assessments")).risk_assessments.find((one: Told) => one.locked !== true).id;
const risk = async (prepare: Prepare): Promise<string> => {
  const risk_assessment_id = await riskAssessment(prepare);
  return (await prepare("create_risk_scenario", { risk_assessment_id, name: fresh("Risk") })).risk_scenario.id;
};
const first =
  (list: string, rows: string) =>
  async (prepare: Prepare): Promise<string> =>
    (await prepare(list))[rows][0].id;
const framework = first("list_frameworks", "frameworks");

/** A call with the id of one object. */
const on =
  (argument: string, id: (prepare: Prepare) => Promise<string>, more: object = {}): Calls =>
  async (prepare) => [{ [argument]: await id(prepare), ...more }];
const plain =
  (args: object = {}): Calls =>
  async () => [args];

/** By the names of the tools. */
export const GRC_CALLS: Readonly<Record<string, Calls>> = {
  whoami: plain(),
  list_tenants: plain(),
  get_tenant: plain(),
  search_all: plain({ query: "control" }),
  list_assessments: plain(),
  get_assessment: on("assessment_id", first("list_assessments", "assessments")),
  get_assessment_maturity: on("assessment_id", first("list_assessments", "assessments")),
  list_requirement_assessments: plain(),
  get_requirement_assessment: on("requirement_assessment_id", requirement),
  update_requirement_assessment: on("requirement_assessment_id", requirement, { result: "partially_compliant" }),
  set_requirement_controls: async (prepare) => [
    { requirement_assessment_id: await requirement(prepare), control_ids: [await control(prepare)] },
  ],
  set_requirement_evidence: async (prepare) => [
    { requirement_assessment_id: await requirement(prepare), evidence_ids: [await evidence(prepare)] },
  ],
  list_primary_assets: plain(),
  list_supporting_assets: plain(),
  get_asset: on("asset_id", asset),
  create_asset: async () => [{ name: fresh("Asset"), type: "supporting" }],
  update_asset: on("asset_id", asset, { description: "Changed" }),
  delete_asset: on("asset_id", asset),
  list_controls: plain(),
  get_control: on("control_id", control),
  create_control: async () => [{ name: fresh("Control") }],
  update_control: on("control_id", control, { description: "Changed" }),
  delete_control: on("control_id", control),
  set_control_maturity: async (prepare) => {
    const [requirement_assessment_id, control_id] = [await requirement(prepare), await control(prepare)];
    await prepare("set_requirement_controls", { requirement_assessment_id, control_ids: [control_id] });
    return [{ control_id, requirement_assessment_id, score: 2 }];
  },
  list_cves: plain(),
  get_cve: on("cve_id", first("list_cves", "cves")),
  list_evidence: plain(),
  get_evidence: on("evidence_id", evidence),
  create_evidence: async () => [{ name: fresh("Evidence"), link: "https://example.com/first" }],
  update_evidence: on("evidence_id", evidence, { link: "https://example.com/second" }),
  delete_evidence: on("evidence_id", evidence),
  attach_evidence: async (prepare) => [
    { evidence_id: await evidence(prepare), control_id: await control(prepare) },
    { evidence_id: await evidence(prepare), requirement_assessment_id: await requirement(prepare) },
  ],
  upload_evidence_file: on("evidence_id", evidence, { file_name: "notes.txt", content_base64: "bm90ZXM=" }),
  read_evidence_file: async (prepare) => {
    const evidence_id = await evidence(prepare);
    await prepare("upload_evidence_file", { evidence_id, file_name: "notes.txt", content_base64: "bm90ZXM=" });
    return [{ evidence_id }];
  },
  list_frameworks: plain(),
  get_framework: on("framework_id", framework),
  get_framework_tree: on("framework_id", framework),
  list_requirements: on("framework_id", framework),
  get_requirement: async (prepare) => {
    const { requirements } = await prepare("list_requirements", { framework_id: await framework(prepare) });
    return [{ requirement_id: requirements[0].id }];
  },
  list_maturity_levels: on("framework_id", framework),
  list_reference_controls: plain(),
  list_organizations: plain(),
  get_organization: on("organization_id", first("list_organizations", "organizations")),
  list_risk_quantifications: plain(),
  // The newest study of the built-in platform is empty.
  get_financial_summary: on("quantification_id", async (prepare) => {
    return (await prepare("list_risk_quantifications")).risk_quantifications.at(-1).id;
  }),
  list_quantified_scenarios: plain(),
  list_risk_assessments: plain(),
  list_risk_scenarios: plain(),
  get_risk_scenario: on("risk_scenario_id", risk),
  create_risk_scenario: on("risk_assessment_id", riskAssessment, { name: "Risk of a role" }),
  update_risk_scenario: on("risk_scenario_id", risk, { description: "Changed" }),
  delete_risk_scenario: on("risk_scenario_id", risk),
  list_attack_outcomes: plain(),
  get_attack_outcome: on("attack_outcome_id", first("list_attack_outcomes", "attack_outcomes")),
};

/** What a call came to, in a word: refusals by their code, lists by their length, and what else is counted. */
export function outcomeOf(told: Told): string {
  if (told.stale_count !== undefined) return `${told.stale_count} rows`;
  return told.total_size === undefined ? "answered" : `${told.total_size} rows`;
}
