import { expect } from "vitest";
import type { Row } from "../frame/pages.js";
import type { Transcript } from "../frame/transcript.js";

// What people use the tools for, from the question to the last write. Each job
// finds what it works on through the tools alone, and reads back what it wrote.

/** What a job is told beforehand: the tenant where the person has several, and what one would say to find things. */
export interface Brief {
  readonly tenant_id?: string;
  /** Words in the name of the audit that shows its scores. */
  readonly audit: string;
  /** Words in the name of the control that answers the requirement. */
  readonly control: string;
  /** Distinguishes what this run creates. */
  readonly run: string;
}

type Rows<Name extends string> = { readonly [N in Name]?: readonly Row[] } & { readonly total_size: number };

/** What is missing for a control set: result and maturity are set, evidence is attached, a risk scenario is raised. */
async function missingForControls(job: Transcript, { audit, control, run, ...tenant }: Brief): Promise<void> {
  const audits = await job.get<Rows<"assessments">>("list_assessments", { ...tenant, query: audit });
  const assessment_id = audits.assessments![0]!.id;
  const open = await job.get<Rows<"requirement_assessments">>("list_requirement_assessments", {
    ...tenant,
    assessment_id,
    results: ["not_assessed", "non_compliant"],
    page_size: 10,
  });
  const id = { requirement_assessment_id: open.requirement_assessments![0]!.id };
  const read = () => job.get<{ requirement_assessment: Row }>("get_requirement_assessment", { ...tenant, ...id });
  const before = (await read()).requirement_assessment;
  const controls = await job.get<Rows<"controls">>("list_controls", { ...tenant, query: control, page_size: 5 });
  const control_id = controls.controls![0]!.id;
  const there = ((before.controls ?? []) as Row[]).map((one) => one.id);
  const control_ids = [...new Set([...there, control_id])];
  await job.get("set_requirement_controls", { ...tenant, ...id, control_ids });
  const found = { result: "partially_compliant", status: "in_progress", observation: "Covered in part, see evidence" };
  await job.get("update_requirement_assessment", { ...tenant, ...id, ...found });
  const { max_score } = (before.maturity ?? { max_score: 1 }) as { max_score: number };
  const score = Math.floor(max_score / 2);
  await job.get("set_control_maturity", { ...tenant, ...id, control_id, score });
  const made = await job.get<{ evidence: Row }>("create_evidence", {
    ...tenant,
    name: `Review minutes ${run}`,
    link: "https://wiki.example/minutes",
  });
  await job.get("attach_evidence", { ...tenant, ...id, evidence_id: made.evidence.id });
  const risks = await job.get<Rows<"risk_assessments">>("list_risk_assessments", { ...tenant, page_size: 5 });
  const name = `Gap in ${control} ${run}`;
  const risk_assessment_id = risks.risk_assessments!.find(({ locked }) => locked !== true)!.id;
  const raised = await job.get<{ risk_scenario: Row }>("create_risk_scenario", {
    ...tenant,
    risk_assessment_id,
    name,
    current_probability: 2,
    current_impact: 3,
    control_ids: [control_id],
  });
  expect(raised.risk_scenario).toMatchObject({ name, controls: [{ id: control_id }] });
  const after = (await read()).requirement_assessment;
  expect(after).toMatchObject({ ...found, maturity: { score } });
  expect((after.evidence as Row[]).map((one) => one.id)).toContain(made.evidence.id);
  const { score: reached } = await job.get<Row>("get_assessment_maturity", { ...tenant, assessment_id });
  expect(reached).toBeGreaterThanOrEqual(0);
}

/** An audit by implementation group, of a third party: what it covers is all that is listed, and is assessed. */
async function auditOfThirdParty(job: Transcript, { run, ...tenant }: Brief): Promise<void> {
  const where = tenant.tenant_id === undefined ? {} : { tenant_id: tenant.tenant_id };
  const { assessments = [] } = await job.get<Rows<"assessments">>("list_assessments", where);
  const third = assessments.find(({ third_party }) => third_party === true)!;
  const id = { ...where, assessment_id: third.id };
  const { assessment } = await job.get<{ assessment: Row }>("get_assessment", id);
  expect((assessment.groups as string[]).length).toBeGreaterThan(0);
  const covered: Row[] = [];
  let page_token: string | undefined;
  do {
    const page: Rows<"requirement_assessments"> & { next_page_token?: string } = await job.get(
      "list_requirement_assessments",
      { ...id, page_size: 50, ...(page_token !== undefined && { page_token }) },
    );
    covered.push(...(page.requirement_assessments ?? []));
    page_token = page.next_page_token;
    if (page_token === undefined) expect(covered).toHaveLength(page.total_size);
  } while (page_token !== undefined);
  for (const [i, one] of covered.slice(0, 2).entries()) {
    await job.get("update_requirement_assessment", {
      ...where,
      requirement_assessment_id: one.id,
      result: i === 0 ? "compliant" : "non_compliant",
      observation: `Seen at the supplier ${run}`,
    });
  }
  const answer = await job.get<Rows<"requirement_assessments">>("list_requirement_assessments", {
    ...id,
    results: ["non_compliant"],
  });
  expect((answer.requirement_assessments ?? []).map((one) => one.id)).toContain(covered[1]!.id);
}

/** From an attack path to a priced risk, with the primary asset that it hits and what carries that. */
async function attackToPrice(job: Transcript, { run, ...brief }: Brief): Promise<void> {
  const where = brief.tenant_id === undefined ? {} : { tenant_id: brief.tenant_id };
  const attacks = await job.get<Rows<"attack_outcomes">>("list_attack_outcomes", { ...where, page_size: 10 });
  const attack_outcome_id = attacks.attack_outcomes!.find(({ selected }) => selected === true)!.id;
  const { attack_outcome } = await job.get<{ attack_outcome: Row }>("get_attack_outcome", {
    ...where,
    attack_outcome_id,
  });
  const studies = await job.get<Rows<"risk_quantifications">>("list_risk_quantifications", where);
  const all = await job.get<Rows<"quantified_scenarios"> & { quantification?: Row }>(
    "list_quantified_scenarios",
    where,
  );
  const hitBy = (one: Row) => ((one.assets ?? []) as Row[]).map(({ id }) => id);
  const priced = all.quantified_scenarios!.find(
    (one) => one.current_annual_loss !== undefined && hitBy(one).length > 0,
  )!;
  const primaries = await job.get<Rows<"assets">>("list_primary_assets", where);
  const primary = primaries.assets!.find(({ id }) => hitBy(priced).includes(id))!;
  const carrying = await job.get<Rows<"assets">>("list_supporting_assets", { ...where, primary_asset_id: primary.id });
  const ofAsset = await job.get<Rows<"quantified_scenarios">>("list_quantified_scenarios", {
    ...where,
    asset_id: primary.id,
  });
  expect(ofAsset.quantified_scenarios!.map(({ id }) => id)).toContain(priced.id);
  const quantification_id = (all.quantification ?? (priced.quantification as Row)).id;
  expect(studies.risk_quantifications!.map(({ id }) => id)).toContain(quantification_id);
  const summary = await job.get<Row>("get_financial_summary", { ...where, quantification_id });
  expect(summary.current_annual_loss).toBeGreaterThan(0);
  const risks = await job.get<Rows<"risk_assessments">>("list_risk_assessments", { ...where, page_size: 5 });
  const asset_ids = [primary, ...(carrying.assets ?? []).slice(0, 3)].map(({ id }) => id);
  const { risk_scenario } = await job.get<{ risk_scenario: Row }>("create_risk_scenario", {
    ...where,
    risk_assessment_id: risks.risk_assessments!.find(({ locked }) => locked !== true)!.id,
    name: `${String((attack_outcome.attack_path as Row | undefined)?.name ?? attack_outcome.name).slice(0, 150)} ${run}`,
    description: `Costs ${priced.current_annual_loss} ${summary.currency} a year: ${priced.name}`,
    current_probability: 2,
    current_impact: 3,
    asset_ids,
  });
  expect((risk_scenario.assets as Row[]).map(({ id }) => id).sort()).toEqual([...asset_ids].sort());
}

/** The jobs, with who does each: on the built-in platform somebody with just the rights it takes, and on the real one. */
export const JOBS = [
  { title: "what is missing for a control set", run: missingForControls, as: "assessor", really: "analyst" },
  { title: "an audit by group, of a third party", run: auditOfThirdParty, as: "assessor", really: "analyst" },
  { title: "from an attack path to a priced risk", run: attackToPrice, as: "pricer", really: "analyst" },
] as const;
