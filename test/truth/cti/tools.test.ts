import { afterAll, beforeAll, describe, expect } from "vitest";
import { realPlatform, truth } from "../frame/real.js";
import { Verdicts } from "../frame/table.js";
import { makeGround, profile, triage } from "./jobs.js";
import { containerListTruths } from "./rows/container-lists.js";
import { containerTruths } from "./rows/containers.js";
import { indicatorTruths } from "./rows/indicators.js";
import { insightTruths } from "./rows/insights.js";
import { kindTruths } from "./rows/kinds.js";
import { linkTruths } from "./rows/links.js";
import { listTruths } from "./rows/lists.js";
import { managedContainerTruths } from "./rows/managed-containers.js";
import { objectTruths } from "./rows/objects.js";
import { remarkTruths } from "./rows/remarks.js";
import { schemaTruths } from "./rows/schema.js";
import { statisticsTruths } from "./rows/statistics.js";
import { vocabularyTruths } from "./rows/vocabularies.js";
import { annotationWriteTruths } from "./rows/written-annotations.js";
import { containerWriteTruths } from "./rows/written-containers.js";
import { entityWriteTruths } from "./rows/written-entities.js";
import { personOf, type Stage, startStage, stopStage } from "./stage.js";
import { PEOPLE } from "./world.js";

const { settings, missing } = realPlatform("CTI_REAL_URL", "CTI_REAL_TOKEN", "CTI_REAL_ISSUER");

const TRUTHS = [
  ...listTruths,
  ...kindTruths,
  ...indicatorTruths,
  ...linkTruths,
  ...schemaTruths,
  ...statisticsTruths,
  ...objectTruths,
  ...insightTruths,
  ...entityWriteTruths,
  ...containerWriteTruths,
  ...annotationWriteTruths,
  ...containerListTruths,
  ...containerTruths,
  ...managedContainerTruths,
  ...remarkTruths,
  ...vocabularyTruths,
];

let stage: Stage;
const verdicts = new Verdicts();

beforeAll(async () => {
  if (settings === undefined) return;
  stage = await startStage({
    url: settings.CTI_REAL_URL,
    token: settings.CTI_REAL_TOKEN,
    issuer: settings.CTI_REAL_ISSUER,
  });
}, 600_000);

afterAll(async () => {
  if (stage === undefined) return;
  verdicts.write(PEOPLE);
  await stopStage(stage);
}, 120_000);

truth("every tool of cti has a row", missing, async () => {
  const known = new Set(TRUTHS.map(({ tool }) => tool));
  expect((await personOf(stage, "administrator").tools()).filter((tool) => !known.has(tool))).toEqual([]);
});

truth("an analyst triages an indicator and writes it up; a reader profiles an actor", missing, async () => {
  const ground = await makeGround(personOf(stage, "writer"), stage.world.run);
  const jobs = [await triage(personOf(stage, "writer"), ground), await profile(personOf(stage, "reader"), ground)];
  for (const job of jobs) job.write(`cti ${job.title} real`);
});

for (const { tool, cases } of TRUTHS) {
  describe(tool, () => {
    for (const one of cases) {
      for (const person of one.as) {
        truth(`${one.about}, as ${person}`, missing, () => verdicts.prove(tool, one, stage, person));
      }
    }
  });
}
