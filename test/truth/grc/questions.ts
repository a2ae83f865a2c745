import type { Row } from "../frame/pages.js";
import { allOf, type Question } from "../frame/questions.js";
import type { Transcript } from "../frame/transcript.js";
import { day, officeOf, VULNERABILITIES } from "./office.js";
import { idOf, LISTS } from "./seen.js";
import { type Stage, seenBy, tenantOf } from "./stage.js";

const idsOf = (related: unknown): string[] => ((related ?? []) as Row[]).flatMap((one) => idOf(one) ?? []);
const namesOf = (rows: readonly Row[]) => rows.map(({ name }) => String(name)).sort();

const byName = (a: { readonly name?: unknown }, b: { readonly name?: unknown }): number =>
  String(a.name) < String(b.name) ? -1 : 1;

/** What somebody sees of a kind in the tenant they work in. */
async function seenOf(stage: Stage, person: string, path: string): Promise<Row[]> {
  return seenBy(stage, person).of(await tenantOf(stage, person), path);
}

/** The names that a page gives to the ids in its rows. */
const named = (page: Record<string, unknown>, field: string) =>
  new Map(((page[field] ?? []) as Row[]).map(({ id, name }) => [id, String(name)]));

/** The id of the tenant to work in: the only one, or that with a name. */
async function tenantId(job: Transcript, words: string): Promise<{ readonly tenant_id: string }> {
  const { tenants = [] } = await job.get<{ tenants?: Row[] }>("list_tenants", { query: words });
  return { tenant_id: tenants[0]!.id };
}

/** The eight questions of auditors, risk managers and security officers. */
export function questionsOf(run: string, cve: string): readonly Question<Stage>[] {
  return [
    {
      words: `A supplier warns of ${cve}. Which of our assets are affected and not yet repaired?`,
      as: "analyst",
      async ask(job) {
        const page = await job.get("list_vulnerabilities", { cve_id: cve, page_size: 50 });
        const names = named(page, "assets");
        const open = ((page.vulnerabilities ?? []) as Row[]).filter(
          ({ status }) => !["fixed", "mitigated", "not_exploitable", "unaffected"].includes(String(status)),
        );
        return [...new Set(open.flatMap((row) => idsOf(row.assets).map((id) => names.get(id))))].sort();
      },
      async answer(stage) {
        const { advisory } = await officeOf(stage);
        const rows = (await seenOf(stage, "analyst", VULNERABILITIES)).filter(
          (row) => idsOf(row.security_advisories).includes(advisory!) || String(row.name).includes(cve),
        );
        const open = rows.filter(
          ({ status }) => !["fixed", "mitigated", "not_exploitable", "unaffected"].includes(String(status)),
        );
        const assets = await seenBy(stage, "analyst").of(await tenantOf(stage, "analyst"), LISTS.asset);
        const hit = new Set(open.flatMap((row) => idsOf(row.assets)));
        return namesOf(assets.filter(({ id }) => hit.has(id)));
      },
    },
    {
      words: "Which controls are late, and whose are they?",
      as: "overseer",
      async ask(job) {
        const tenant = await tenantId(job, `Alpha ${run}`);
        const owners = new Map<string, string>();
        const late: Row[] = [];
        for (let page_token: string | undefined = ""; page_token !== undefined; ) {
          const args = { ...tenant, late_only: true, order_by: "eta", page_size: 100, page_token };
          const page: Record<string, unknown> = await job.get("list_controls", args);
          for (const [id, name] of named(page, "owners")) owners.set(id, name);
          late.push(...((page.controls ?? []) as Row[]));
          page_token = page.next_page_token as string | undefined;
        }
        return late.map((row) => [
          row.name,
          row.eta,
          idsOf(row.owners)
            .map((id) => owners.get(id))
            .sort(),
        ]);
      },
      async answer(stage) {
        const rows = await seenOf(stage, "overseer", LISTS.control);
        const late = rows.filter(
          ({ eta, status }) =>
            typeof eta === "string" && eta < day(0) && !["active", "deprecated"].includes(String(status)),
        );
        const owners = (row: Row) =>
          ((row.owner ?? []) as Row[]).flatMap((one) => (one.id ? String(one.str) : [])).sort();
        const inOrder = late.sort((a, b) => (`${a.eta}${a.id}` < `${b.eta}${b.id}` ? -1 : 1));
        return inOrder.map((row) => [row.name, row.eta, owners(row)]);
      },
    },
    {
      words: "What proof expires in the next ten days or has expired, for the audit of the shop?",
      as: "reader",
      async ask(job) {
        const { assessments = [] } = await job.get<{ assessments?: Row[] }>("list_assessments", {
          query: `shop shown ${run}`,
        });
        const args = { assessment_id: assessments[0]!.id, expires_before: day(10) };
        return (await allOf<Row>(job, "list_evidence", "evidence", args)).map(({ name, expiry_date }) => [
          name,
          expiry_date,
        ]);
      },
      async answer(stage) {
        const seen = seenBy(stage, "reader");
        const query = { compliance_assessment: stage.world.ids.shown!, requirement__assessable: true };
        const lines = await stage.platform.list(seen.email, LISTS.requirement, query);
        const own = new Set(lines.flatMap((row) => idsOf(row.evidences)));
        const controls = new Set(lines.flatMap((row) => idsOf(row.applied_controls)));
        const rows = (await seenOf(stage, "reader", LISTS.evidence)).filter(
          (row) =>
            (own.has(row.id) || idsOf(row.applied_controls).some((id) => controls.has(id))) &&
            typeof row.expiry_date === "string" &&
            row.expiry_date < day(10),
        );
        const inOrder = rows.sort((a, b) => (`${a.expiry_date}${a.id}` < `${b.expiry_date}${b.id}` ? -1 : 1));
        return inOrder.map(({ name, expiry_date }) => [name, expiry_date]);
      },
    },
    {
      words: "Since the last audit of the shop: what got better, what got worse?",
      as: "granted",
      async ask(job) {
        const { assessments = [] } = await job.get<{ assessments?: Row[] }>("list_assessments", {
          query: `shop ${run}`,
        });
        const [older, newer] = ["shown", "later"].map(
          (word) => assessments.find(({ name }) => String(name).includes(word))!.id,
        );
        const page = await job.get("list_assessment_differences", {
          base_assessment_id: older,
          assessment_id: newer,
          page_size: 1,
        });
        return { better: page.better_count, worse: page.worse_count };
      },
      async answer(stage) {
        const seen = seenBy(stage, "granted");
        const { later } = await officeOf(stage);
        const read = async (audit: string) => {
          const query = { compliance_assessment: audit, requirement__assessable: true };
          const rows = await stage.platform.list(seen.email, LISTS.requirement, query);
          return new Map(rows.map((row) => [(row.requirement as Row).id, row]));
        };
        const [before, after] = [await read(stage.world.ids.shown!), await read(later!)];
        const ranks = ["non_compliant", "partially_compliant", "compliant"];
        const height = (row: Row) => ranks.indexOf(String(row.result));
        const score = (row: Row) => (row.is_scored === true ? Number(row.score) : Number.NaN);
        const steps = [...before].map(([id, old]) => {
          const now = after.get(id)!;
          if (old.result === now.result) return Math.sign(score(now) - score(old)) || 0;
          return height(old) < 0 || height(now) < 0 ? 0 : Math.sign(height(now) - height(old));
        });
        return { better: steps.filter((step) => step > 0).length, worse: steps.filter((step) => step < 0).length };
      },
    },
    {
      words: "How compliant is the shop's audit really: per cent met, and how many of each result?",
      as: "analyst",
      async ask(job) {
        const { assessments = [] } = await job.get<{ assessments?: Row[] }>("list_assessments", {
          query: `shop shown ${run}`,
        });
        const args = { assessment_id: assessments[0]!.id };
        const { assessment } = await job.get<{ assessment: Row }>("get_assessment", args);
        const results = (assessment.results ?? []) as { result: string; count: number }[];
        return {
          percent: Math.round(Number(assessment.compliant_percent)),
          results: Object.fromEntries(results.map(({ result, count }) => [result, count])),
        };
      },
      async answer(stage) {
        const query = { compliance_assessment: stage.world.ids.shown!, requirement__assessable: true };
        const rows = await stage.platform.list(seenBy(stage, "analyst").email, LISTS.requirement, query);
        const results: Record<string, number> = {};
        for (const { result } of rows) results[String(result)] = (results[String(result)] ?? 0) + 1;
        const applicable = rows.length - (results.not_applicable ?? 0);
        return { percent: Math.round(((results.compliant ?? 0) / applicable) * 100), results };
      },
    },
    {
      words: "What are our worst risks that touch the second asset, and how many risks are on each level?",
      as: "analyst",
      async ask(job) {
        const { assets = [] } = await job.get<{ assets?: Row[] }>("list_primary_assets", { query: `"asset 1 ${run}"` });
        const args = { asset_id: assets[0]!.id, order_by: "current_level", page_size: 3 };
        const { risk_scenarios: worst = [] } = await job.get<{ risk_scenarios?: Row[] }>("list_risk_scenarios", args);
        const counted = await job.get<{ level_counts?: { level?: Row; current: number }[] }>("list_risk_scenarios", {
          with_counts: true,
          page_size: 1,
        });
        const level = (row: Row) => ((row.current as Row | undefined)?.level as Row | undefined)?.value ?? -1;
        return {
          worst: worst.map(level),
          levels: (counted.level_counts ?? []).flatMap(({ level, current }) =>
            current === 0 ? [] : [[level?.value ?? -1, current]],
          ),
        };
      },
      async answer(stage) {
        const rows = await seenOf(stage, "analyst", LISTS.risk);
        const level = (row: Row) => Number((row.current_level as Row | null)?.value ?? -1);
        const hit = rows.filter((row) => idsOf(row.assets).includes(stage.world.ids.asset1!)).map(level);
        const levels = [...new Set(rows.map(level))].sort((a, b) => b - a);
        return {
          worst: hit.sort((a, b) => b - a).slice(0, 3),
          levels: levels.map((one) => [one, rows.filter((row) => level(row) === one).length]),
        };
      },
    },
    {
      words: "Which risk costs us most a year, over all studies, and is its figure still good?",
      as: "reader",
      async ask(job) {
        const page = await job.get("list_quantified_scenarios", { costliest_first: true, page_size: 20 });
        const rows = page.quantified_scenarios as Row[];
        return rows
          .filter((row) => row.current_annual_loss === rows[0]!.current_annual_loss)
          .map((row) => ({ name: row.name, loss: row.current_annual_loss, stale: row.stale === true }))
          .sort(byName);
      },
      async answer(stage) {
        const rows = await seenOf(stage, "reader", LISTS.priced);
        const most = Math.max(...rows.map((row) => Number(row.current_ale ?? -1)));
        // Of equal inputs the platform simulates equal losses.
        const costliest = rows.filter((row) => Number(row.current_ale ?? -1) === most);
        const seen = seenBy(stage, "reader");
        const isStale = async ({ id }: Row): Promise<boolean> => {
          const hypotheses = await stage.platform.list(seen.email, "/api/crq/quantitative-risk-hypotheses/", {
            quantitative_risk_scenario: id,
          });
          return hypotheses.some(
            (one) =>
              one.is_simulation_fresh === false &&
              one.ale !== null &&
              (one.risk_stage === "current" || one.is_selected === true),
          );
        };
        const told = costliest.map(async (row) => ({ name: row.name, loss: most, stale: await isStale(row) }));
        return (await Promise.all(told)).sort(byName);
      },
    },
    {
      words: "What do our priced controls cost a year, all together?",
      as: "manager",
      async ask(job, dead) {
        const controls = await allOf<Row>(job, "list_controls", "controls", { query: `Deadline ${run}` });
        let total = 0;
        for (const { id } of controls) {
          const { control } = await job.get<{ control: Row }>("get_control", { control_id: id });
          const cost = control.cost as { annual: number } | undefined;
          if (cost === undefined) dead();
          total += cost?.annual ?? 0;
        }
        return Math.round(total);
      },
      async answer(stage) {
        const rows = (await seenOf(stage, "manager", LISTS.control)).filter(({ name }) =>
          String(name).startsWith("Deadline"),
        );
        let total = 0;
        for (const { id } of rows)
          total += Number((await seenBy(stage, "manager").read(LISTS.control, id))!.annual_cost);
        return Math.round(total);
      },
    },
  ];
}
