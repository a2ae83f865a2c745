import { afterAll, beforeAll, describe, expect } from "vitest";
import { truth } from "../frame/real.js";
import { Verdicts } from "../frame/table.js";
import { Transcript } from "../frame/transcript.js";
import { JOBS } from "./jobs.js";
import { argumentTruths } from "./rows/arguments.js";
import { assetWriteTruths } from "./rows/asset-writes.js";
import { controlWriteTruths } from "./rows/control-writes.js";
import { evidenceFileTruths } from "./rows/evidence-files.js";
import { evidenceWriteTruths } from "./rows/evidence-writes.js";
import { figureTruths } from "./rows/figures.js";
import { frameworkTruths } from "./rows/frameworks.js";
import { leaverTruths } from "./rows/leavers.js";
import { libraryTruths } from "./rows/library.js";
import { listTruths } from "./rows/lists.js";
import { moreListTruths } from "./rows/more-lists.js";
import { moreObjectTruths } from "./rows/more-objects.js";
import { objectTruths } from "./rows/objects.js";
import { officeTruths } from "./rows/office.js";
import { requirementWriteTruths } from "./rows/requirement-writes.js";
import { narrowedTruths, rightTruths } from "./rows/rights.js";
import { riskWriteTruths } from "./rows/risk-writes.js";
import { sizeTruths } from "./rows/sizes.js";
import { tenantTruths } from "./rows/tenants.js";
import { personOf, REAL, type Stage, startStage, stopStage } from "./stage.js";
import { PEOPLE } from "./world.js";

const { settings, missing } = REAL;

const TRUTHS = [
  ...tenantTruths,
  ...frameworkTruths,
  ...listTruths,
  ...narrowedTruths,
  ...argumentTruths,
  ...sizeTruths,
  ...objectTruths,
  ...moreListTruths,
  ...moreObjectTruths,
  ...libraryTruths,
  ...figureTruths,
  ...riskWriteTruths,
  ...assetWriteTruths,
  ...controlWriteTruths,
  ...requirementWriteTruths,
  ...evidenceWriteTruths,
  ...evidenceFileTruths,
  ...rightTruths,
  ...leaverTruths,
  ...officeTruths,
];

let stage: Stage;
const verdicts = new Verdicts();

beforeAll(async () => {
  if (settings === undefined) return;
  stage = await startStage(settings);
}, 300_000);

afterAll(async () => {
  if (stage === undefined) return;
  verdicts.write([...PEOPLE, "leaver"]);
  await stopStage(stage);
}, 120_000);

truth("every tool of grc has a row", missing, async () => {
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
  for (const { title, run, really } of JOBS) {
    truth(title, missing, async () => {
      const { ids, run: of } = stage.world;
      const brief = { tenant_id: ids.alpha!, audit: `shop shown ${of}`, control: `alpha control 16 ${of}`, run: of };
      const job = new Transcript(title, personOf(stage, really));
      await run(job, brief);
      job.write(`grc ${title}`);
    });
  }
});
