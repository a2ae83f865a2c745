import { afterAll, beforeAll, describe, expect } from "vitest";
import { realPlatform, truth } from "../frame/real.js";
import { Verdicts } from "../frame/table.js";
import { Transcript } from "../frame/transcript.js";
import { type Ground, JOBS, makeGround } from "./jobs.js";
import { containerListTruths } from "./rows/container-lists.js";
import { makeContainers } from "./rows/container-world.js";
import { containerTruths } from "./rows/containers.js";
import { edgeTruths } from "./rows/edges.js";
import { historyTruths } from "./rows/history.js";
import { indicatorTruths } from "./rows/indicators.js";
import { insightTruths } from "./rows/insights.js";
import { kindTruths } from "./rows/kinds.js";
import { linkTruths } from "./rows/links.js";
import { listTruths } from "./rows/lists.js";
import { managedContainerTruths } from "./rows/managed-containers.js";
import { objectTruths } from "./rows/objects.js";
import { organizationTruths } from "./rows/organizations.js";
import { racedTruths } from "./rows/raced.js";
import { remarkTruths } from "./rows/remarks.js";
import { schemaTruths } from "./rows/schema.js";
import { sizeTruths } from "./rows/sizes.js";
import { statisticsTruths } from "./rows/statistics.js";
import { valueTruths } from "./rows/values.js";
import { vocabularyTruths } from "./rows/vocabularies.js";
import { annotationWriteTruths } from "./rows/written-annotations.js";
import { containerWriteTruths } from "./rows/written-containers.js";
import { entityWriteTruths } from "./rows/written-entities.js";
import { personOf, type Stage, seenBy, startStage, stopStage } from "./stage.js";
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
  ...historyTruths,
  ...entityWriteTruths,
  ...containerWriteTruths,
  ...annotationWriteTruths,
  ...containerListTruths,
  ...containerTruths,
  ...managedContainerTruths,
  ...remarkTruths,
  ...vocabularyTruths,
  ...organizationTruths,
  ...sizeTruths,
  ...edgeTruths,
  ...racedTruths,
  ...valueTruths,
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

for (const { tool, cases } of TRUTHS) {
  describe(tool, () => {
    for (const one of cases) {
      for (const person of one.as) {
        truth(`${one.about}, as ${person}`, missing, () => verdicts.prove(tool, one, stage, person));
      }
    }
  });
}

describe("whole jobs", () => {
  let ground: Ground | undefined;
  for (const { title, as, run } of JOBS) {
    truth(title, missing, async () => {
      await makeContainers(stage);
      ground ??= await makeGround(personOf(stage, "writer"), stage.world.run, { flaws: stage.world.run, minCvss: 9 });
      const job = new Transcript(title, personOf(stage, as));
      const { caseId } = await run(job, ground);
      // The case holds what one may see of the exploited ones, and nothing else.
      const held = caseId === undefined ? undefined : await seenBy(stage, "root").contents(caseId);
      if (held !== undefined) expect(held.map(({ id }) => id)).toEqual([stage.world.ids.flaw0]);
      job.write(`cti ${title}`);
    });
  }
});
