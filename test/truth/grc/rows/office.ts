import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { day, type Office, officeOf, VULNERABILITIES } from "../office.js";
import { idOf, LISTS, type Seen, type SeenTenant } from "../seen.js";
import { personOf, readWhole, refuses, type Stage, seenBy, tenantOf } from "../stage.js";
import { WORKERS } from "./tenants.js";

// What people ask of lists and figures, against an answer computed from every
// object that the platform shows them.

/** What somebody is asked about: the tenant they work in, as they see it. */
interface Asked {
  readonly stage: Stage;
  readonly person: string;
  readonly office: Office;
  readonly tenant: SeenTenant;
  readonly seen: Seen;
}

function asked(about: string, tool: string, prove: (asked: Asked) => Promise<void>): Truth<Stage>["cases"][number] {
  return {
    about,
    as: WORKERS,
    async prove(stage, person) {
      const office = await officeOf(stage);
      if (!(await personOf(stage, person).tools()).includes(tool)) return;
      const [tenant, seen] = [await tenantOf(stage, person), seenBy(stage, person)];
      await prove({ stage, person, office, tenant, seen });
    },
  };
}

const idsOf = (related: unknown): string[] => ((related ?? []) as Row[]).flatMap((one) => idOf(one) ?? []);
const idOnly = (rows: readonly Row[]) => rows.map(({ id }) => id);
const sorted = (ids: readonly string[]) => [...ids].sort();

/** Reads a whole list in small pages and proves that it has what is meant, in no matter which order. */
async function hasExactly(
  { stage, person, tenant }: Asked,
  tool: string,
  rows: string,
  args: object,
  meant: readonly Row[],
) {
  const read = await readWhole(stage, person, { tool, rows, args: { tenant_id: tenant.id, ...args }, pageSize: 4 });
  expect(sorted(idOnly(read.rows)), `${tool} ${JSON.stringify(args)}`).toEqual(sorted(idOnly(meant)));
  return read.rows;
}

/** The controls, evidence and so on of a tenant that answer to a question. */
async function meantOf({ seen, tenant }: Asked, path: string, is: (row: Row) => boolean): Promise<Row[]> {
  return (await seen.of(tenant, path)).filter(is);
}

/** Whether somebody may not see an actor; then nothing is told of what the actor owns. */
async function seesNoOwner({ stage, person, tenant, seen }: Asked, tool: string, owner: string): Promise<boolean> {
  if ((await seen.read("/api/actors/", owner)) !== undefined) return false;
  await refuses(stage, person, tool, { tenant_id: tenant.id, owner_id: owner }, /owner_id/);
  return true;
}

const isLate = (row: Row) =>
  typeof row.eta === "string" && row.eta < day(0) && !["active", "deprecated"].includes(String(row.status));

/** Results that may be compared, the worst first. */
const RANKS = ["non_compliant", "partially_compliant", "compliant"];

/** The requirements of an audit as somebody sees them, by requirement. */
async function linesOf({ stage, seen }: Asked, audit: string): Promise<ReadonlyMap<string, Row>> {
  const query = { compliance_assessment: audit, requirement__assessable: true };
  const covered = new Set(await seen.requirementsOf(audit));
  const rows = (await stage.platform.list(seen.email, LISTS.requirement, query)).filter(({ id }) => covered.has(id));
  return new Map(rows.map((row) => [(row.requirement as Row).id, row]));
}

const scoreOf = (row: Row | undefined) => (row?.is_scored === true ? (row.score ?? undefined) : undefined);

export const officeTruths: readonly Truth<Stage>[] = [
  {
    tool: "list_vulnerabilities",
    cases: [
      asked("has all that one sees, with every asset that one sees", "list_vulnerabilities", async (asked) => {
        const all = await meantOf(asked, VULNERABILITIES, () => true);
        const rows = await hasExactly(asked, "list_vulnerabilities", "vulnerabilities", {}, all);
        for (const row of all) {
          const told = rows.find(({ id }) => id === row.id)!;
          expect(sorted(idsOf(told.assets))).toEqual(sorted(idsOf(row.assets)));
          expect(told.severity ?? "undefined").toBe(row.severity);
          expect(told.status ?? "--").toBe(row.status);
          const hidden = [row.assets, row.applied_controls]
            .flatMap((list) => list as Row[])
            .filter((one) => !idOf(one));
          expect(told.hidden_links ?? 0).toBe(hidden.length);
        }
      }),
      asked("is narrowed by asset, CVE, status and severity", "list_vulnerabilities", async (asked) => {
        const { office, stage } = asked;
        const asset = stage.world.ids.asset1!;
        const ask = (args: object, is: (row: Row) => boolean) =>
          meantOf(asked, VULNERABILITIES, is).then((meant) =>
            hasExactly(asked, "list_vulnerabilities", "vulnerabilities", args, meant),
          );
        if ((await asked.seen.read(LISTS.asset, asset)) !== undefined && asked.person !== "manager")
          await ask({ asset_id: asset }, (row) => idsOf(row.assets).includes(asset));
        const of = (row: Row) => idsOf(row.security_advisories).includes(office.advisory!);
        await ask({ cve_id: office.cve.toLowerCase() }, (row) => of(row) || String(row.name).includes(office.cve));
        await ask({ statuses: ["exploitable", "potential"] }, ({ status }) =>
          ["exploitable", "potential"].includes(String(status)),
        );
        await ask({ min_severity: "high" }, ({ severity }) => ["high", "critical"].includes(String(severity)));
      }),
    ],
  },
  {
    tool: "list_risk_scenarios",
    cases: [
      asked("is narrowed by asset, and rows name the assets", "list_risk_scenarios", async (asked) => {
        if (asked.person === "manager") return;
        const asset = asked.stage.world.ids.asset1!;
        if ((await asked.seen.read(LISTS.asset, asset)) === undefined) return;
        const meant = await meantOf(asked, LISTS.risk, (row) => idsOf(row.assets).includes(asset));
        const rows = await hasExactly(asked, "list_risk_scenarios", "risk_scenarios", { asset_id: asset }, meant);
        for (const row of rows) {
          expect(sorted(idsOf(row.assets))).toEqual(sorted(idsOf(meant.find(({ id }) => id === row.id)!.assets)));
        }
      }),
      asked("is sorted by level, and counts levels over all pages", "list_risk_scenarios", async (asked) => {
        const { stage, person, tenant } = asked;
        const meant = await meantOf(asked, LISTS.risk, () => true);
        const level = (row: Row, stage: string) => Number((row[`${stage}_level`] as Row | null)?.value ?? -1);
        for (const [order_by, of] of [
          ["current_level", "current"],
          ["residual_level", "residual"],
        ] as const) {
          const args = { tenant_id: tenant.id, order_by };
          const { rows } = await readWhole(stage, person, {
            tool: "list_risk_scenarios",
            rows: "risk_scenarios",
            args,
            pageSize: 4,
          });
          const levels = rows.map(({ id }) => level(meant.find((one) => one.id === id)!, of));
          expect(levels).toEqual([...meant.map((row) => level(row, of))].sort((a, b) => b - a));
        }
        const counted = await personOf(stage, person).get("list_risk_scenarios", {
          tenant_id: tenant.id,
          with_counts: true,
          page_size: 1,
        });
        for (const one of (counted.level_counts ?? []) as {
          level?: { value: number; name: string };
          current: number;
          residual: number;
        }[]) {
          const value = one.level?.value ?? -1;
          const name = one.level?.name;
          const is = (row: Row, stage: string) =>
            level(row, stage) === value && (value < 0 || (row[`${stage}_level`] as Row).name === name);
          expect(one.current).toBe(meant.filter((row) => is(row, "current")).length);
          expect(one.residual).toBe(meant.filter((row) => is(row, "residual")).length);
        }
        const sum = ((counted.level_counts ?? []) as Row[]).reduce((total, one) => total + Number(one.current), 0);
        expect(sum).toBe(meant.length);
      }),
    ],
  },
  {
    tool: "list_controls",
    cases: [
      asked("finds late controls, those due before a day and those of an owner", "list_controls", async (asked) => {
        const { analystActor } = asked.stage.world.ids;
        const ask = async (args: object, is: (row: Row) => boolean) =>
          hasExactly(asked, "list_controls", "controls", args, await meantOf(asked, LISTS.control, is));
        const rows = await ask({ late_only: true }, isLate);
        for (const row of rows) {
          const direct = (await asked.seen.read(LISTS.control, row.id))!;
          expect(sorted(idsOf(row.owners))).toEqual(sorted(idsOf(direct.owner)));
        }
        const owns = (row: Row) => idsOf(row.owner).includes(analystActor!);
        await ask({ due_before: day(25) }, ({ eta }) => typeof eta === "string" && eta < day(25));
        if (await seesNoOwner(asked, "list_controls", analystActor!)) return;
        await ask({ owner_id: analystActor }, owns);
        await ask(
          { owner_id: analystActor, late_only: true, statuses: ["to_do", "active"] },
          (row) => owns(row) && isLate(row) && row.status === "to_do",
        );
      }),
      asked("sorts by due date, those without one last", "list_controls", async (asked) => {
        const { stage, person, tenant } = asked;
        const meant = await meantOf(asked, LISTS.control, () => true);
        for (const [order_by, field] of [
          ["eta", "eta"],
          ["priority", "priority"],
        ] as const) {
          const args = { tenant_id: tenant.id, order_by };
          const { rows } = await readWhole(stage, person, {
            tool: "list_controls",
            rows: "controls",
            args,
            pageSize: 7,
          });
          const told = rows.map(({ id }) => String(meant.find((one) => one.id === id)![field] || "~"));
          expect(told).toEqual([...meant.map((row) => String(row[field] || "~"))].sort());
        }
      }),
    ],
  },
  {
    tool: "get_control",
    cases: [
      asked("has the recorded cost, and none where nothing is recorded", "get_control", async (asked) => {
        const { stage, person, tenant, office, seen } = asked;
        for (const key of ["control2", "control6", "control1"]) {
          const direct = await seen.read(LISTS.control, office[key]!);
          if (direct === undefined || !tenant.folders.has(idOf(direct.folder) ?? "")) continue;
          const args = { tenant_id: tenant.id, control_id: direct.id };
          const { control } = await personOf(stage, person).get<{ control: Row }>("get_control", args);
          const cost = control.cost as Row | undefined;
          if (key === "control1") expect(cost).toBeUndefined();
          else {
            const { build, run, amortization_period } = direct.cost as {
              build: Row;
              run: Row;
              amortization_period: number;
            };
            expect(cost).toEqual({
              currency: "€",
              annual: Number(direct.annual_cost),
              build: build.fixed_cost,
              build_days: build.people_days,
              run: run.fixed_cost,
              run_days: run.people_days,
              amortization_years: amortization_period,
            });
          }
        }
      }),
    ],
  },
  {
    tool: "list_evidence",
    cases: [
      asked(
        "finds what expires before a day, soonest first, and what somebody owns",
        "list_evidence",
        async (asked) => {
          const { analystActor } = asked.stage.world.ids;
          const expires = (row: Row) => typeof row.expiry_date === "string" && row.expiry_date < day(10);
          const meant = await meantOf(asked, LISTS.evidence, expires);
          const rows = await hasExactly(asked, "list_evidence", "evidence", { expires_before: day(10) }, meant);
          const days = rows.map((row) => String(row.expiry_date));
          expect(days).toEqual([...days].sort());
          const owns = (row: Row) => idsOf(row.owner).includes(analystActor!);
          if (await seesNoOwner(asked, "list_evidence", analystActor!)) return;
          const owned = await meantOf(asked, LISTS.evidence, owns);
          await hasExactly(asked, "list_evidence", "evidence", { owner_id: analystActor }, owned);
          const both = owned.filter(expires);
          await hasExactly(
            asked,
            "list_evidence",
            "evidence",
            { owner_id: analystActor, expires_before: day(10) },
            both,
          );
        },
      ),
      asked(
        "finds the evidence of an audit, of its requirements and of their controls",
        "list_evidence",
        async (asked) => {
          const { stage, tenant, seen } = asked;
          if (asked.person === "respondent" || asked.person === "auditee") return;
          for (const key of ["shown", "hidden", "part", "supplierAudit"]) {
            const audit = await seen.read(LISTS.audit, stage.world.ids[key]!);
            if (audit === undefined || !tenant.folders.has(idOf(audit.folder) ?? "")) continue;
            const lines = [...(await linesOf(asked, audit.id)).values()];
            const own = new Set([...idsOf(audit.evidences), ...lines.flatMap((row) => idsOf(row.evidences))]);
            const controls = new Set(lines.flatMap((row) => idsOf(row.applied_controls)));
            const meant = await meantOf(
              asked,
              LISTS.evidence,
              (row) => own.has(row.id) || idsOf(row.applied_controls).some((id) => controls.has(id)),
            );
            await hasExactly(asked, "list_evidence", "evidence", { assessment_id: audit.id }, meant);
          }
        },
      ),
    ],
  },
  {
    tool: "list_quantified_scenarios",
    cases: [
      asked("has the costliest first, over all studies", "list_quantified_scenarios", async (asked) => {
        const { stage, person, tenant } = asked;
        const meant = await meantOf(asked, LISTS.priced, () => true);
        const args = { tenant_id: tenant.id, costliest_first: true };
        const reading = { tool: "list_quantified_scenarios", rows: "quantified_scenarios", args, pageSize: 2 };
        const { rows } = await readWhole(stage, person, reading);
        const loss = (id: string) => Number(meant.find((one) => one.id === id)!.current_ale ?? -1);
        expect(rows.map(({ id }) => loss(id))).toEqual(meant.map(({ id }) => loss(id)).sort((a, b) => b - a));
      }),
    ],
  },
  {
    tool: "get_assessment",
    cases: [
      asked(
        "counts requirements by result, and the score as the platform computes it",
        "get_assessment",
        async (asked) => {
          const { stage, person, tenant, office, seen } = asked;
          for (const id of [stage.world.ids.shown, stage.world.ids.part, stage.world.ids.hidden, office.later]) {
            const audit = await seen.read(LISTS.audit, id!);
            if (audit === undefined || !tenant.folders.has(idOf(audit.folder) ?? "")) continue;
            const lines = [...(await linesOf(asked, audit.id)).values()];
            const args = { tenant_id: tenant.id, assessment_id: audit.id };
            const { assessment } = await personOf(stage, person).get<{ assessment: Row }>("get_assessment", args);
            expect(assessment.requirement_count).toBe(lines.length);
            const told = (assessment.results ?? []) as { result: string; count: number }[];
            for (const { result, count } of told)
              expect(count).toBe(lines.filter((one) => one.result === result).length);
            expect(told.reduce((sum, { count }) => sum + count, 0)).toBe(lines.length);
            const applicable = lines.filter(({ result }) => result !== "not_applicable").length;
            const met = lines.filter(({ result }) => result === "compliant").length;
            if (applicable > 0) expect(assessment.compliant_percent).toBeCloseTo((met / applicable) * 100, 0);
            const isShown = lines.some((row) => "score" in row);
            const { maturity_score, min_score, max_score } = await stage.platform.need(
              seen.email,
              "GET",
              `${LISTS.audit}${audit.id}/global_score/`,
            );
            const score = isShown && maturity_score >= 0 ? maturity_score : undefined;
            expect(assessment.score).toBe(score);
            if (score !== undefined) {
              expect(assessment.score_percent).toBeCloseTo(((score - min_score) / (max_score - min_score)) * 100, 0);
              expect(assessment.scored_count).toBe(lines.filter((row) => scoreOf(row) !== undefined).length);
            }
          }
        },
      ),
    ],
  },
  {
    tool: "list_assessment_differences",
    cases: [
      asked("joins two audits by requirement", "list_assessment_differences", async (asked) => {
        const { stage, person, tenant, office, seen } = asked;
        const [base, other] = [stage.world.ids.shown!, office.later!];
        const audits = [await seen.read(LISTS.audit, base), await seen.read(LISTS.audit, other)];
        if (audits.some((one) => one === undefined || !tenant.folders.has(idOf(one.folder) ?? ""))) return;
        const [before, after] = [await linesOf(asked, base), await linesOf(asked, other)];
        const counts = { better: 0, worse: 0, same: 0, changed: 0 };
        const meant = new Map<string, { base: Row; other: Row }>();
        for (const [requirement, row] of before) {
          const now = after.get(requirement)!;
          const [from, to] = [row, now].map(({ result }) => RANKS.indexOf(String(result))) as [number, number];
          const [old, fresh] = [scoreOf(row), scoreOf(now)] as [number | undefined, number | undefined];
          const change =
            row.result !== now.result
              ? from < 0 || to < 0
                ? "changed"
                : to > from
                  ? "better"
                  : "worse"
              : old === fresh
                ? "same"
                : old === undefined || fresh === undefined
                  ? "changed"
                  : fresh > old
                    ? "better"
                    : "worse";
          counts[change]++;
          if (change !== "same") meant.set(row.id, { base: row, other: now });
        }
        const told: { base: Row; other: Row }[] = [];
        let page_token = "";
        do {
          const args = {
            tenant_id: tenant.id,
            base_assessment_id: base,
            assessment_id: other,
            page_size: 5,
            page_token,
          };
          const page = await personOf(stage, person).get("list_assessment_differences", args);
          told.push(...((page.requirements ?? []) as { base: Row; other: Row }[]));
          for (const [change, count] of Object.entries(counts)) expect(page[`${change}_count`], change).toBe(count);
          expect(page.total_size).toBe(meant.size);
          page_token = (page.next_page_token as string | undefined) ?? "";
        } while (page_token !== "");
        expect(told.map((row) => row.base.id).sort()).toEqual([...meant.keys()].sort());
        for (const row of told) {
          const one = meant.get(row.base.id)!;
          expect([row.base.result, row.other.result]).toEqual([one.base.result, one.other.result]);
          expect([row.base.score, row.other.score]).toEqual([scoreOf(one.base), scoreOf(one.other)]);
          expect(row.other.id).toBe(one.other.id);
        }
      }),
    ],
  },
];
