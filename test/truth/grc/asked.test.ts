import { afterAll, beforeAll, expect } from "vitest";
import { Figures } from "../frame/questions.js";
import { truth } from "../frame/real.js";
import { jobsOf, REMARK } from "./asked.js";
import { groundOf } from "./asked-ground.js";
import { LISTS } from "./seen.js";
import { personOf, REAL, type Stage, seenBy, startStage, stopStage } from "./stage.js";

// The jobs of asked.md on a real platform.

const { settings, missing } = REAL;

let stage: Stage;
const figures = new Figures();

beforeAll(async () => {
  if (settings === undefined) return;
  stage = await startStage(settings);
}, 590_000);

afterAll(async () => {
  if (stage === undefined) return;
  figures.write();
  await stopStage(stage);
}, 120_000);

for (const [i, { words }] of jobsOf("").entries()) {
  truth(words, missing, async () => {
    const job = jobsOf(stage.world.run)[i]!;
    await figures.prove(job, stage, personOf(stage, job.as));
  });
}

truth("what was recorded is at the platform", missing, async () => {
  const { edr } = await groundOf(stage);
  const control = (await seenBy(stage, "administrator").read(LISTS.control, edr))!;
  expect(control).toMatchObject({ status: "in_progress", progress_field: 40 });
  expect(control.cost).toMatchObject({ currency: "€", build: { fixed_cost: 120_000 }, run: { fixed_cost: 30_000 } });
  const lines = await stage.platform.list(stage.world.emails.auditee!, LISTS.requirement, {
    requirement__assessable: true,
  });
  const recorded = lines.filter(({ observation }) => observation === REMARK);
  expect(recorded.map(({ result }) => result)).toEqual(["partially_compliant"]);
});
