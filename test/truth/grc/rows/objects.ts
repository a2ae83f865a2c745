import { expect } from "vitest";
import type { Row } from "../../frame/pages.js";
import type { Truth } from "../../frame/table.js";
import { idOf, LISTS } from "../seen.js";
import { holdsNothingHidden, personOf, refuses, type Stage, seenBy, tenantOf } from "../stage.js";
import { HIDDEN_PATH } from "./lists.js";
import { NOWHERE, STRANGERS, WORKERS } from "./tenants.js";

/** A tool that reads one object. */
export interface Getter {
  readonly tool: string;
  readonly argument: string;
  readonly member: string;
  readonly path: string;
  /** Objects of every place, by their names in the world. */
  readonly keys: readonly string[];
  /** What is told of an object. */
  readonly same: (told: Row, direct: Row, stage: Stage, person: string) => Promise<void> | void;
}

/** The ids of related objects that are shown, in one order. */
export const ids = (list: unknown) => ((list ?? []) as { id?: string }[]).flatMap(({ id }) => (id ? [id] : [])).sort();
/** How many related objects are hidden. */
export const hidden = (...lists: unknown[]) =>
  lists.flat().filter((one) => Object.keys(one as object).length === 0).length;
/** What the platform has no value for is absent. */
export const text = (value: unknown) => (value === null || value === "" ? undefined : value);
/** A label of the platform in the words of the tools: "Extra Small" is extra_small; none is "--". */
const word = (label: unknown) => {
  const said = String(label ?? "--")
    .toLowerCase()
    .replaceAll(" ", "_");
  return said === "--" ? undefined : said;
};
/** Times to the millisecond. */
const time = (value: unknown) => (value === undefined ? undefined : Date.parse(String(value)));
const ratingIn = (value: unknown) => {
  const step = value as { value: number; name: string } | null | undefined;
  return step == null || step.value < 0 ? undefined : { value: step.value, name: step.name };
};

const IMPACTS: Readonly<Record<string, number>> = { very_low: 1, low: 2, medium: 3, high: 4, very_high: 5 };

/** The score of every requirement in scope that a control answers, as the platform shows it to a person. */
async function scoresOf(stage: Stage, person: string, control: string): Promise<Row[]> {
  const tenant = await tenantOf(stage, person);
  const seen = seenBy(stage, person);
  const rows = await seen.of(tenant, LISTS.requirement, { applied_controls: control });
  const told: Row[] = [];
  for (const row of rows) {
    const scope = await seen.requirementsOf(idOf(row.compliance_assessment)!);
    if (scope.includes(row.id)) told.push(row);
  }
  return told;
}

const GETTERS: readonly Getter[] = [
  {
    tool: "get_control",
    argument: "control_id",
    member: "control",
    path: LISTS.control,
    keys: ["control0", "control1", "control2", "control3", "control4", "rootControl"],
    async same(told, direct, stage, person) {
      expect(told.name).toBe(direct.name);
      expect(told.ref_id).toBe(text(direct.ref_id));
      expect(told.description).toBe(text(direct.description));
      expect(told.progress).toBe(direct.progress_field);
      for (const field of ["status", "category", "csf_function", "effort"]) {
        expect(told[field]).toBe(word(direct[field]));
      }
      for (const field of ["eta", "expiry_date", "link", "observation"]) expect(told[field]).toBe(text(direct[field]));
      expect(told.impact).toBe(IMPACTS[String(word(direct.control_impact))]);
      expect(told.priority && `P${told.priority}`).toBe(word(direct.priority)?.toUpperCase());
      expect((told.reference_control as Row | undefined)?.id).toBe(idOf(direct.reference_control));
      expect(time(told.created_at)).toBe(time(direct.created_at));
      // Left out where it is that of the creation.
      expect(time(told.updated_at ?? told.created_at)).toBe(time(direct.updated_at));
      expect((told.domain as Row | undefined)?.id).toBe(idOf(direct.folder));
      expect(ids(told.evidence)).toEqual(ids(direct.evidences));
      expect(ids(told.owners)).toEqual(ids(direct.owner));
      expect(told.hidden_links).toBe(hidden(direct.evidences, direct.owner, direct.assets));
      const scores = await scoresOf(stage, person, direct.id);
      const maturity = (told.maturity ?? []) as { requirements: (Row & { score?: number })[] }[];
      const rows = maturity.flatMap(({ requirements }) => requirements);
      expect(rows.map(({ id }) => id).sort()).toEqual(scores.map(({ id }) => id).sort());
      for (const row of rows) {
        const of = scores.find(({ id }) => id === row.id)!;
        expect(row.result).toBe(of.result);
        expect(row.score ?? null).toBe(of.is_scored === true ? (of.score ?? null) : null);
      }
    },
  },
  {
    tool: "get_evidence",
    argument: "evidence_id",
    member: "evidence",
    path: LISTS.evidence,
    keys: ["evidence0", "evidence1", "evidence2", "evidence3", "rootEvidence"],
    async same(told, direct, stage, person) {
      expect(told.name).toBe(direct.name);
      // Named by the platform, and not read there by everybody that it is named to.
      const seen = seenBy(stage, person);
      const named = ids(direct.requirement_assessments);
      const read = await Promise.all(named.map((id) => seen.read(LISTS.requirement, id)));
      expect(ids(told.requirement_assessments)).toEqual(named.filter((_, at) => read[at] !== undefined));
      expect(told.link).toBe(text(direct.link));
      const kept = (direct.attachment as string | null)?.split("/").at(-1);
      expect(told.file_name).toBe(kept && decodeURIComponent(kept));
      expect(told.file_size).toBe(text(direct.size));
      expect(told.expiry_date).toBe(text(direct.expiry_date));
      expect(told.status).toBe(word(direct.status));
      expect(told.description).toBe(text(direct.description));
      expect(time(told.created_at)).toBe(time(direct.created_at));
      expect(ids(told.controls)).toEqual(ids(direct.applied_controls));
      expect((told.domain as Row | undefined)?.id).toBe(idOf(direct.folder));
    },
  },
  {
    tool: "get_requirement_assessment",
    argument: "requirement_assessment_id",
    member: "requirement_assessment",
    path: LISTS.requirement,
    keys: ["hidden0", "hidden1", "shown0", "partInside", "supplier0", "other0"],
    same(told, direct) {
      expect(told.result).toBe(direct.result);
      expect(told.observation).toBe(text(direct.observation));
      expect((told.requirement as Row).id).toBe((direct.requirement as Row).id);
      expect((told.assessment as Row | undefined)?.id).toBe(idOf(direct.compliance_assessment));
      expect(ids(told.controls)).toEqual(ids(direct.applied_controls));
      expect(ids(told.evidence)).toEqual(ids(direct.evidences));
      expect(told.hidden_links).toBe(hidden(direct.applied_controls, direct.evidences));
      expect([told.assessable, told.locked]).toEqual([direct.assessable, direct.is_locked]);
      expect((told.domain as Row | undefined)?.id).toBe(idOf(direct.folder));
      expect((told.requirement as Row).ref_id).toBe(text((direct.requirement as Row).ref_id));
      const maturity = told.maturity as { score_visible: boolean; score?: number };
      expect(maturity.score_visible).toBe("score" in direct);
      expect(maturity.score ?? null).toBe(direct.is_scored === true ? (direct.score ?? null) : null);
    },
  },
  {
    tool: "get_risk_scenario",
    argument: "risk_scenario_id",
    member: "risk_scenario",
    path: LISTS.risk,
    keys: ["risk0", "risk1", "risk2", "risk3", "rootRisk"],
    same(told, direct) {
      expect(told.name).toBe(direct.name);
      expect(told.treatment).toBe(direct.treatment);
      expect((told.risk_assessment as Row | undefined)?.id).toBe(idOf(direct.risk_assessment));
      expect(ids(told.controls)).toEqual(ids(direct.applied_controls));
      expect(ids(told.assets)).toEqual(ids(direct.assets));
      const lists = [direct.assets, direct.applied_controls, direct.existing_applied_controls];
      expect(told.hidden_links).toBe(hidden(...lists));
      expect([told.ref_id, told.description]).toEqual([text(direct.ref_id), text(direct.description)]);
      expect((told.domain as Row | undefined)?.id).toBe(idOf(direct.folder));
      expect(time(told.updated_at)).toBe(time(direct.updated_at));
      expect(ids(told.existing_controls)).toEqual(ids(direct.existing_applied_controls));
      for (const stage of ["inherent", "current", "residual"]) {
        for (const [ours, theirs] of [
          ["probability", "proba"],
          ["impact", "impact"],
          ["level", "level"],
        ]) {
          const { value, name } = direct[`${stage}_${theirs}`] as { value: number; name: string };
          const rating = (told[stage] as Record<string, unknown> | undefined)?.[ours!];
          expect(rating).toEqual(value < 0 ? undefined : { value, name });
        }
      }
    },
  },
  {
    tool: "get_attack_outcome",
    argument: "attack_outcome_id",
    member: "attack_outcome",
    path: LISTS.attack,
    keys: ["attack0", "attack1", "attack2", "attackLinked"],
    same(told, direct) {
      const isHidden = idOf(direct.attack_path) === undefined;
      expect(told.name).toBe(isHidden ? HIDDEN_PATH : direct.str);
      expect(told.hidden_links).toBe(isHidden ? 1 : undefined);
      expect((told.study as Row | undefined)?.id).toBe(idOf(direct.ebios_rm_study));
      expect(told.operating_mode).toBe(text(direct.operating_modes_description));
      for (const field of ["likelihood", "gravity", "risk_level"]) expect(told[field]).toEqual(ratingIn(direct[field]));
      expect((told.attack_path as Row | undefined)?.id).toBe(idOf(direct.attack_path));
      expect((told.domain as Row | undefined)?.id).toBe(idOf(direct.folder));
      const { risk_origin, target_objective } = (direct.ro_to ?? {}) as {
        risk_origin?: Row;
        target_objective?: string;
      };
      const attacker = isHidden ? [undefined, undefined] : [risk_origin?.str, target_objective];
      expect([told.risk_origin, told.target_objective]).toEqual(attacker);
      expect(told.selected).toBe(direct.is_selected);
    },
  },
];

/** Tools that read one object. */
export const objectTruths: readonly Truth<Stage>[] = GETTERS.map(truthOfGetter);

/** What is true of a tool that reads one object. */
export function truthOfGetter(getter: Getter): Truth<Stage> {
  return {
    tool: getter.tool,
    cases: [
      {
        about: "tells of each object what the platform tells, and refuses what the platform hides",
        as: WORKERS,
        async prove(stage: Stage, person: string) {
          const tenant = await tenantOf(stage, person);
          for (const key of getter.keys) {
            const id = stage.world.ids[key]!;
            const args = { tenant_id: tenant.id, [getter.argument]: id };
            const direct = await seenBy(stage, person).read(getter.path, id);
            const folder = idOf(direct?.folder);
            const isOpen = folder === stage.world.ids.root || tenant.folders.has(folder ?? "");
            if (direct === undefined || !isOpen) {
              await refuses(stage, person, getter.tool, args);
              continue;
            }
            const { result, text: answer, refusal } = await personOf(stage, person).ask(getter.tool, args);
            if (result === undefined) {
              // Not offered for want of a right that the tool needs besides.
              expect(await personOf(stage, person).tools(), `${key}: ${refusal}`).not.toContain(getter.tool);
              continue;
            }
            await getter.same(result[getter.member] as Row, direct, stage, person);
            await holdsNothingHidden(stage, person, answer);
            // Ids are taken in any case.
            const upper = { tenant_id: tenant.id.toUpperCase(), [getter.argument]: id.toUpperCase() };
            const again = await personOf(stage, person).get(getter.tool, upper);
            expect(again).toEqual(result);
          }
        },
      },
      {
        about: "what does not exist is refused like what is hidden",
        as: ["analyst", "granted"],
        prove: (stage: Stage, person: string) =>
          refuses(
            stage,
            person,
            getter.tool,
            { [getter.argument]: "00000000-0000-4000-8000-000000000000" },
            /you may see|unknown|may not/i,
          ),
      },
      {
        about: "is refused to who has no role or no account",
        as: STRANGERS,
        prove: (stage: Stage, person: string) =>
          refuses(stage, person, getter.tool, { [getter.argument]: stage.world.ids[getter.keys[0]!] }, NOWHERE),
      },
    ],
  };
}
