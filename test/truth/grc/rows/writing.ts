import { expect } from "vitest";
import { changesBetween, type Standing } from "../../frame/changes.js";
import type { Truth } from "../../frame/table.js";
import { LISTS } from "../seen.js";
import { personOf, refuses, type Stage } from "../stage.js";
import { STRANGERS } from "./tenants.js";

/** Who may not write in the first tenant, for whatever reason. */
export const CANNOT = ["reader", "granted", "manager", "overseer", "tester", ...STRANGERS] as const;
/** Fields that the platform changes by itself with another. */
const BY_ITSELF = ["updated_at", "state", "ranking_score", "annual_cost", "progress_field"];

const PATHS = [
  LISTS.control,
  LISTS.evidence,
  LISTS.requirement,
  LISTS.risk,
  LISTS.asset,
  "/api/evidence-revisions/",
] as const;

/** Everything that a tool of grc could write, as it stands. */
async function standing(stage: Stage): Promise<Standing> {
  const admin = stage.world.emails.administrator!;
  const { ids } = stage.world;
  const audits = ["hidden", "shown", "part", "other", "supplierAudit"].map((key) => ids[key]!);
  const lists = await Promise.all(
    PATHS.map((path) =>
      stage.platform.list(admin, path, path === LISTS.requirement ? { compliance_assessment: audits } : {}),
    ),
  );
  return new Map(lists.flat().map((row) => [row.id, row]));
}

/** What a call changed, and what it said. */
export async function changedBy(stage: Stage, person: string, tool: string, args: object) {
  const before = await standing(stage);
  const said = await personOf(stage, person).ask(tool, args);
  const after = await standing(stage);
  return { said, changes: changesBetween(before, after, BY_ITSELF), after };
}

/** Proves that a call is refused and changes nothing at all. */
export async function refusedWithoutTrace(
  stage: Stage,
  person: string,
  tool: string,
  args: object,
  words: RegExp = /./,
) {
  const before = await standing(stage);
  await refuses(stage, person, tool, args, words);
  expect(changesBetween(before, await standing(stage))).toEqual([]);
}

/** As the platform's administrator. @throws Error where it is refused. */
export const admin = (stage: Stage, method: string, path: string, body?: object) =>
  stage.platform.need(stage.world.emails.administrator!, method, path, body);

/** A control of the first tenant to write on. */
export async function freshControl(stage: Stage, more: object = {}): Promise<string> {
  const name = `Control to write ${stage.world.run} ${Math.random()}`;
  return (await admin(stage, "POST", LISTS.control, { name, folder: stage.world.ids.alpha, ...more })).id;
}

/** Evidence of the first tenant to write on. */
export async function freshEvidence(stage: Stage, more: object = {}): Promise<string> {
  const name = `Proof to write ${stage.world.run} ${Math.random()}`;
  return (await admin(stage, "POST", LISTS.evidence, { name, folder: stage.world.ids.alpha, ...more })).id;
}

/** A tool that whoever may not write in the first tenant is refused. */
export const cannot = (tool: string, args: (stage: Stage) => object): Truth<Stage>["cases"][number] => ({
  about: "who may not is refused, and nothing changes",
  as: [...CANNOT],
  prove: (stage, person) => refusedWithoutTrace(stage, person, tool, args(stage)),
});
