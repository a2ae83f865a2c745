import { afterAll, beforeAll, describe } from "vitest";
import { Figures } from "../frame/questions.js";
import { realPlatform, truth } from "../frame/real.js";
import { Verdicts } from "../frame/table.js";
import { makeDesk } from "./desk.js";
import { type Desk, questionsOf } from "./questions.js";
import { hintTruths } from "./rows/hints.js";
import { periodTruths } from "./rows/periods.js";
import { recentTruths } from "./rows/recent.js";
import { personOf, type Stage, startStage, stopStage } from "./stage.js";
import { PEOPLE } from "./world.js";

// The questions of an analyst, and the arguments and fields that answer them.

const { settings, missing } = realPlatform("CTI_REAL_URL", "CTI_REAL_TOKEN", "CTI_REAL_ISSUER");

let stage: Stage;
const figures = new Figures();
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
  figures.write();
  verdicts.write(PEOPLE);
  await stopStage(stage);
}, 120_000);

for (const { tool, cases } of [...recentTruths, ...periodTruths, ...hintTruths]) {
  describe(tool, () => {
    for (const one of cases) {
      for (const person of one.as) {
        truth(`${one.about}, as ${person}`, missing, () => verdicts.prove(tool, one, stage, person));
      }
    }
  });
}

const NONE: Desk = { address: "", group: "", rival: "", malware: "", colleague: "", since: "" };

describe("the questions of an analyst", () => {
  let desk: Promise<Desk> | undefined;
  for (const [i, { words }] of questionsOf(NONE).entries()) {
    truth(words, missing, async () => {
      desk ??= makeDesk(stage);
      const question = questionsOf(await desk)[i]!;
      await figures.prove(question, stage, personOf(stage, question.as));
    });
  }
});
