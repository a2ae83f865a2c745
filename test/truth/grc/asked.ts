import type { Row } from "../frame/pages.js";
import { allOf, type Question } from "../frame/questions.js";
import type { Transcript } from "../frame/transcript.js";
import { groundOf } from "./asked-ground.js";
import { day, officeOf, VULNERABILITIES } from "./office.js";
import { idOf, LISTS } from "./seen.js";
import { type Stage, seenBy, tenantOf } from "./stage.js";

// The jobs of asked.md that the tools can do, each found through the tools alone and
// computed from the platform's own data. Jobs 7, 9, 10 and 11 need kinds of objects
// that have no tool.

const idsOf = (related: unknown): string[] => ((related ?? []) as Row[]).flatMap((one) => idOf(one) ?? []);
const namesOf = (rows: readonly Row[]) => rows.map(({ name }) => String(name)).sort();
const sorted = <T>(values: Iterable<T>): T[] => [...values].sort();
const cents = (amount: number) => Math.round(amount * 100) / 100;
const FINISHED = ["active", "deprecated"];
const NOT_MET = ["non_compliant", "partially_compliant"];

async function seenOf(stage: Stage, person: string, path: string): Promise<Row[]> {
  await groundOf(stage);
  return seenBy(stage, person).of(await tenantOf(stage, person), path);
}

/** All pages of a list, with the names that its pages give to ids. */
async function readAll(job: Transcript, tool: string, rows: string, names: readonly string[], args: object) {
  const all: Row[] = [];
  const known = new Map<string, string>();
  let first: Record<string, unknown> | undefined;
  for (let page_token: string | undefined = ""; page_token !== undefined; ) {
    const page: Record<string, unknown> = await job.get(tool, { ...args, page_size: 100, page_token });
    first ??= page;
    for (const field of names) for (const { id, name } of (page[field] ?? []) as Row[]) known.set(id, String(name));
    all.push(...((page[rows] ?? []) as Row[]));
    page_token = page.next_page_token as string | undefined;
  }
  return { rows: all, known, first: first! };
}

const ownersAtPlatform = (row: Row) =>
  sorted(((row.owner ?? []) as Row[]).flatMap((one) => (one.id ? [String(one.str)] : [])));

/** The lines of an audit at the platform, by requirement. */
async function linesOf(stage: Stage, person: string, audit: string): Promise<ReadonlyMap<string, Row>> {
  const query = { compliance_assessment: audit, requirement__assessable: true };
  const rows = await stage.platform.list(seenBy(stage, person).email, LISTS.requirement, query);
  return new Map(rows.map((row) => [(row.requirement as Row).id, row]));
}

/** What the respondent records. */
export const REMARK = "Reviewed by the operations team, the procedure is applied";

const RANKS = [...NOT_MET, "compliant"];

/** The last day of the next quarter, and the day after it. */
function afterNextQuarter(): string {
  const now = new Date();
  const quarter = Math.floor(now.getUTCMonth() / 3);
  return new Date(Date.UTC(now.getUTCFullYear(), (quarter + 2) * 3, 1)).toISOString().slice(0, 10);
}

/** The jobs, in the words of asked.md in short. */
export function jobsOf(run: string): readonly Question<Stage>[] {
  return [
    {
      words: "1. Two audits: what is still not met, what got better, and what of it has neither control nor evidence?",
      as: "analyst",
      async ask(job) {
        const { assessments = [] } = await job.get<{ assessments?: Row[] }>("list_assessments", {
          query: `shop ${run}`,
        });
        const [base, other] = ["shown", "later"].map(
          (word) => assessments.find(({ name }) => String(name).includes(word))!.id,
        );
        const { rows } = await readAll(job, "list_assessment_differences", "requirements", [], {
          base_assessment_id: base,
          assessment_id: other,
          base_results: NOT_MET,
          with_unchanged: true,
        });
        const pairs = rows as unknown as { base: Row; other: Row }[];
        const step = (pair: { base: Row; other: Row }) =>
          RANKS.indexOf(String(pair.other.result)) < 0
            ? undefined
            : RANKS.indexOf(String(pair.other.result)) - RANKS.indexOf(String(pair.base.result));
        const still = pairs.filter((pair) => NOT_MET.includes(String(pair.other.result)) && step(pair)! <= 0);
        const open = await readAll(job, "list_requirement_assessments", "requirement_assessments", [], {
          assessment_id: other,
          results: NOT_MET,
        });
        const bare = new Set(open.rows.flatMap((row) => (row.control_count || row.evidence_count ? [] : [row.id])));
        return {
          still: sorted(still.map((pair) => pair.other.id)),
          better: sorted(pairs.filter((pair) => (step(pair) ?? 0) > 0).map((pair) => pair.other.id)),
          bare: sorted(still.filter((p) => step(p) === 0 && bare.has(p.other.id)).map((pair) => pair.other.id)),
        };
      },
      async answer(stage) {
        await groundOf(stage);
        const { later } = await officeOf(stage);
        const [before, after] = [
          await linesOf(stage, "analyst", stage.world.ids.shown!),
          await linesOf(stage, "analyst", later!),
        ];
        const pairs = [...before].flatMap(([id, row]) =>
          NOT_MET.includes(String(row.result)) ? [{ from: row, to: after.get(id)! }] : [],
        );
        const step = ({ from, to }: { from: Row; to: Row }) =>
          RANKS.indexOf(String(to.result)) - RANKS.indexOf(String(from.result));
        const still = pairs.filter((pair) => NOT_MET.includes(String(pair.to.result)) && step(pair) <= 0);
        const isBare = (row: Row) => idsOf(row.applied_controls).length + idsOf(row.evidences).length === 0;
        return {
          still: sorted(still.map(({ to }) => to.id)),
          better: sorted(
            pairs.filter((one) => RANKS.includes(String(one.to.result)) && step(one) > 0).map(({ to }) => to.id),
          ),
          bare: sorted(still.filter((one) => step(one) === 0 && isBare(one.to)).map(({ to }) => to.id)),
        };
      },
    },
    {
      words:
        "2. Risks at the two highest levels: owners, treatment, residual level; which have no owner, which wait for nothing?",
      as: "reader",
      async ask(job) {
        const counted = await job.get<{ level_counts: { level?: { value: number }; current: number }[] }>(
          "list_risk_scenarios",
          { with_counts: true, page_size: 1 },
        );
        const rated = counted.level_counts.filter(({ level, current }) => level !== undefined && current > 0);
        const levels = sorted(new Set(rated.map(({ level }) => level!.value))).slice(-2);
        const { rows, known } = await readAll(job, "list_risk_scenarios", "risk_scenarios", ["owners"], {
          current_levels: levels,
          with_open_controls: true,
        });
        const told = rows.map((row) => ({
          name: String(row.name),
          owners: sorted(idsOf(row.owners).map((id) => known.get(id)!)),
          treatment: row.treatment,
          residual: ((row.residual as Row | undefined)?.level as Row | undefined)?.name ?? null,
        }));
        return {
          risks: told.sort((a, b) => (a.name < b.name ? -1 : 1)),
          nobody: namesOf(rows.filter((row) => idsOf(row.owners).length === 0)),
          nothing: namesOf(rows.filter((row) => row.open_control_count === 0)),
        };
      },
      async answer(stage) {
        const rows = await seenOf(stage, "reader", LISTS.risk);
        const controls = new Map((await seenOf(stage, "reader", LISTS.control)).map((one) => [one.id, one]));
        const level = (row: Row) => Number((row.current_level as Row).value);
        const top = sorted(new Set(rows.map(level).filter((one) => one >= 0))).slice(-2);
        const worst = rows.filter((row) => top.includes(level(row)));
        const isOpen = (id: string) => controls.has(id) && !FINISHED.includes(String(controls.get(id)!.status));
        const told = worst.map((row) => {
          const { value, name } = row.residual_level as unknown as { value: number; name: string };
          return {
            name: String(row.name),
            owners: ownersAtPlatform(row),
            treatment: row.treatment,
            residual: value >= 0 ? name : null,
          };
        });
        return {
          risks: told.sort((a, b) => (a.name < b.name ? -1 : 1)),
          nobody: namesOf(worst.filter((row) => ownersAtPlatform(row).length === 0)),
          nothing: namesOf(worst.filter((row) => !idsOf(row.applied_controls).some(isOpen))),
        };
      },
    },
    {
      words: "3. What do the controls that are not in place cost, per domain; the five dearest; which have no cost?",
      as: "analyst",
      async ask(job) {
        const { rows, first } = await readAll(job, "list_controls", "controls", [], {
          unfinished_only: true,
          with_cost: true,
          order_by: "cost",
        });
        const totals = (first.cost_totals ?? []) as Record<string, never>[];
        return {
          totals: sorted(
            totals.map((one) => `${(one.domain as unknown as Row).id} ${one.build} ${one.run} ${one.annual}`),
          ),
          dearest: rows.slice(0, 5).flatMap((row) => (row.cost as { annual: number } | undefined)?.annual ?? []),
          unpriced: namesOf(rows.filter(({ cost }) => cost === undefined)),
        };
      },
      async answer(stage) {
        const rows = (await seenOf(stage, "analyst", LISTS.control)).filter(
          ({ status }) => !FINISHED.includes(String(status)),
        );
        const totals = new Map<string, number[]>();
        const costs: number[] = [];
        const unpriced: Row[] = [];
        for (const { id } of rows) {
          const row = (await seenBy(stage, "analyst").read(LISTS.control, id))!;
          const { build, run } = row.cost as unknown as Record<
            "build" | "run",
            { fixed_cost: number; people_days: number }
          >;
          const parts = [build.fixed_cost, run.fixed_cost, Number(row.annual_cost)];
          const isPriced = [...parts, build.people_days, run.people_days].some((one) => one > 0);
          if (isPriced) costs.push(parts[2]!);
          else unpriced.push(row);
          const folder = idOf(row.folder)!;
          totals.set(
            folder,
            (totals.get(folder) ?? [0, 0, 0]).map((one, i) => cents(one + parts[i]!)),
          );
        }
        return {
          totals: sorted([...totals].map(([folder, parts]) => [folder, ...parts].join(" "))),
          dearest: costs.sort((a, b) => b - a).slice(0, 5),
          unpriced: namesOf(unpriced),
        };
      },
    },
    {
      words:
        "4. Which evidence expires until the end of next quarter, who renews it, what rests on it; which has no content?",
      as: "reader",
      async ask(job) {
        const { rows, known } = await readAll(job, "list_evidence", "evidence", ["owners"], {
          expires_before: afterNextQuarter(),
        });
        const told: unknown[] = [];
        for (const { id, name, expiry_date, owners, requirement_assessment_count } of rows) {
          const rests =
            requirement_assessment_count === undefined
              ? []
              : await allOf<Row>(job, "list_requirement_assessments", "requirement_assessments", { evidence_id: id });
          told.push([
            name,
            expiry_date,
            sorted(idsOf(owners).map((one) => known.get(one)!)),
            sorted(rests.map((row) => `${row.id} ${idOf(row.assessment)}`)),
          ]);
        }
        const empty = await readAll(job, "list_evidence", "evidence", [], { empty_only: true });
        return { told, empty: namesOf(empty.rows) };
      },
      async answer(stage) {
        const rows = await seenOf(stage, "reader", LISTS.evidence);
        const { email } = seenBy(stage, "reader");
        const expiring = rows
          .filter((row) => typeof row.expiry_date === "string" && row.expiry_date < afterNextQuarter())
          .sort((a, b) => (`${a.expiry_date}${a.id}` < `${b.expiry_date}${b.id}` ? -1 : 1));
        const told: unknown[] = [];
        for (const row of expiring) {
          const rests = await stage.platform.list(email, LISTS.requirement, { evidences: row.id });
          told.push([
            row.name,
            row.expiry_date,
            ownersAtPlatform(row),
            sorted(rests.map((one) => `${one.id} ${idOf(one.compliance_assessment)}`)),
          ]);
        }
        return { told, empty: namesOf(rows.filter(({ attachment, link }) => !attachment && !link)) };
      },
    },
    {
      words: "5. Who is late with which controls, by how many days, and which risks wait for them?",
      as: "analyst",
      async ask(job) {
        const { rows, known } = await readAll(job, "list_controls", "controls", ["owners", "risk_scenarios"], {
          late_only: true,
          with_risk_scenarios: true,
          order_by: "eta",
        });
        return rows.map((row) => [
          row.name,
          Math.round((Date.parse(day(0)) - Date.parse(String(row.eta))) / 86_400_000),
          sorted(idsOf(row.owners).map((id) => known.get(id)!)),
          sorted(idsOf(row.risk_scenarios).map((id) => known.get(id)!)),
        ]);
      },
      async answer(stage) {
        const risks = await seenOf(stage, "analyst", LISTS.risk);
        const late = (await seenOf(stage, "analyst", LISTS.control))
          .filter((row) => typeof row.eta === "string" && row.eta < day(0) && !FINISHED.includes(String(row.status)))
          .sort((a, b) => (`${a.eta}${a.id}` < `${b.eta}${b.id}` ? -1 : 1));
        const waits = ({ id }: Row) =>
          namesOf(
            risks.filter((one) => [one.applied_controls, one.existing_applied_controls].flatMap(idsOf).includes(id)),
          );
        const days = ({ eta }: Row) => Math.round((Date.parse(day(0)) - Date.parse(String(eta))) / 86_400_000);
        return late.map((row) => [row.name, days(row), ownersAtPlatform(row), waits(row)]);
      },
    },
    {
      words:
        "6. Which critical or high vulnerabilities are open, on which assets, since when; overdue, excepted, or with nothing?",
      as: "reader",
      async ask(job) {
        const { rows, known } = await readAll(job, "list_vulnerabilities", "vulnerabilities", ["assets"], {
          open_only: true,
          min_severity: "high",
        });
        return rows
          .map((row) => [
            row.name,
            sorted(idsOf(row.assets).map((id) => known.get(id)!)),
            row.detected_on,
            row.overdue === true,
            row.exception_count ?? 0,
            row.control_count ?? 0,
          ])
          .sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
      },
      async answer(stage) {
        const rows = (await seenOf(stage, "reader", VULNERABILITIES)).filter(
          ({ severity, status }) =>
            ["high", "critical"].includes(String(severity)) &&
            ["--", "potential", "exploitable"].includes(String(status)),
        );
        return rows
          .map((row) => [
            row.name,
            sorted(((row.assets ?? []) as Row[]).flatMap((one) => (one.id ? [String(one.str)] : []))),
            row.detected_at,
            typeof row.due_date === "string" && row.due_date < day(0),
            idsOf(row.security_exceptions).length,
            idsOf(row.applied_controls).length,
          ])
          .sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
      },
    },
    {
      words:
        "8. What of the audit is mine and not assessed? Record a remark and a result for the first; which field is not mine?",
      as: "auditee",
      async ask(job) {
        const { rows } = await readAll(job, "list_requirement_assessments", "requirement_assessments", [], {
          results: ["not_assessed"],
        });
        const id = { requirement_assessment_id: rows[0]!.id };
        const read = await job.get<{ requirement_assessment: Row }>("get_requirement_assessment", id);
        const { requirement_assessment } = await job.get<{ requirement_assessment: Row }>(
          "update_requirement_assessment",
          { ...id, observation: REMARK, result: "partially_compliant" },
        );
        const { result, observation } = requirement_assessment;
        const closed = read.requirement_assessment.closed_arguments;
        return { mine: sorted(rows.map((row) => row.id)), closed, first: [result, observation] };
      },
      async answer(stage) {
        await groundOf(stage);
        const rows = await stage.platform.list(seenBy(stage, "auditee").email, LISTS.requirement, {
          requirement__assessable: true,
          result: "not_assessed",
        });
        // What the platform does not take of what a respondent sends.
        const path = `${LISTS.requirement}${rows.at(-1)!.id}/`;
        const { email } = seenBy(stage, "auditee");
        const sent = { status: "in_review", score: 1, observation: "Tried", result: "not_assessed" };
        const kept: Record<string, unknown> = await stage.platform.need(email, "PATCH", path, sent);
        await stage.platform.need(email, "PATCH", path, { observation: null });
        const closed = Object.entries(sent).flatMap(([field, value]) => (kept[field] === value ? [] : [field]));
        return { mine: sorted(rows.map(({ id }) => id)), closed, first: ["partially_compliant", REMARK] };
      },
    },
    {
      words:
        "12. The three dearest risks, what treatment leaves and costs, which figure is stale; record what the EDR roll-out costs.",
      as: "analyst",
      async ask(job) {
        const page = await job.get("list_quantified_scenarios", { costliest_first: true, page_size: 3 });
        const rows = page.quantified_scenarios as Row[];
        const studies = new Set(
          rows.map((row) => (row.quantification ?? page.quantification) as Row).map(({ id }) => id),
        );
        const costs = new Map<string, unknown>();
        for (const quantification_id of studies) {
          const { scenarios = [] } = await job.get<{ scenarios?: Row[] }>("get_financial_summary", {
            quantification_id,
          });
          for (const { id, treatment_cost } of scenarios) costs.set(id, treatment_cost);
        }
        const { controls = [] } = await job.get<{ controls?: Row[] }>("list_controls", { query: `EDR ${run}` });
        const { control } = await job.get<{ control: Row }>("update_control", {
          control_id: controls[0]!.id,
          status: "in_progress",
          progress: 40,
          eta: day(40),
          build_cost: 120_000,
          run_cost: 30_000,
        });
        return {
          risks: rows.map((row) => [
            row.current_annual_loss ?? null,
            row.residual_annual_loss ?? null,
            row.stale === true,
            costs.get(row.id) ?? null,
          ]),
          control: [control.status, control.progress, control.eta, (control.cost as { annual: number }).annual],
        };
      },
      async answer(stage) {
        const { edr } = await groundOf(stage);
        const seen = seenBy(stage, "analyst");
        const amount = (text: unknown) => (text === null || text === undefined || text === "" ? null : Number(text));
        const rows = (await seenOf(stage, "analyst", LISTS.priced))
          .sort((a, b) => (amount(b.current_ale) ?? -1) - (amount(a.current_ale) ?? -1) || (a.id < b.id ? -1 : 1))
          .slice(0, 3);
        const risks: unknown[] = [];
        for (const row of rows) {
          const study = idOf(row.quantitative_risk_study)!;
          const path = `${LISTS.loss}${study}/executive-summary/`;
          const { scenarios } = await stage.platform.need(seen.email, "GET", path);
          const own = await stage.platform.list(seen.email, "/api/crq/quantitative-risk-hypotheses/", {
            quantitative_risk_scenario: row.id,
          });
          const isStale = own.some(
            (one) =>
              one.is_simulation_fresh === false &&
              one.ale !== null &&
              (one.risk_stage === "current" || one.is_selected === true),
          );
          const cost = (scenarios as Row[]).find(({ id }) => id === row.id)?.treatment_cost;
          risks.push([amount(row.current_ale), amount(row.residual_ale), isStale, amount(cost)]);
        }
        // The write is compared with the platform by asked.test.ts.
        if (edr === undefined) throw new Error("there is no such control");
        return { risks, control: ["in_progress", 40, day(40), 150_000] };
      },
    },
  ];
}
