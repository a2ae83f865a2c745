import { afterAll, beforeAll, describe } from "vitest";
import { Figures } from "../frame/questions.js";
import { truth } from "../frame/real.js";
import { Verdicts } from "../frame/table.js";
import { officeOf } from "./office.js";
import { questionsOf } from "./questions.js";
import { officeTruths } from "./rows/office.js";
import { personOf, REAL, type Stage, startStage, stopStage } from "./stage.js";
import { PEOPLE } from "./world.js";

// The questions of an office, and the arguments and fields that answer them.

const { settings, missing } = REAL;

let stage: Stage;
const figures = new Figures();
const verdicts = new Verdicts();

beforeAll(async () => {
  if (settings === undefined) return;
  stage = await startStage(settings);
}, 590_000);

afterAll(async () => {
  if (stage === undefined) return;
  figures.write();
  verdicts.write(PEOPLE);
  await stopStage(stage);
}, 120_000);

for (const { tool, cases } of officeTruths) {
  describe(tool, () => {
    for (const one of cases) {
      for (const person of one.as) {
        truth(`${one.about}, as ${person}`, missing, () => verdicts.prove(tool, one, stage, person));
      }
    }
  });
}

describe("the questions of an office", () => {
  for (const [i, { words }] of questionsOf("", "a CVE").entries()) {
    truth(words, missing, async () => {
      const question = questionsOf(stage.world.run, (await officeOf(stage)).cve)[i]!;
      await figures.prove(question, stage, personOf(stage, question.as));
    });
  }
});
