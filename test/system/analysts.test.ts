import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ANALYSTS, analystsPage } from "../pages/analysts/page.js";
import { shapeOfPage } from "../pages/shape.js";
import { startProgram } from "../support/program.js";

const page = readFileSync(ANALYSTS, "utf8");

test("the calls of docs/analysts.md return what it shows (npm run pages)", async () => {
  const program = await startProgram();
  try {
    expect(shapeOfPage(page)).toBe(shapeOfPage(await analystsPage(program)));
  } finally {
    await program.stop();
  }
});

/** The ids that a call's arguments name. */
function idsOf(args: object): string[] {
  return Object.entries(args)
    .filter(([name]) => /_ids?$/.test(name))
    .flatMap(([, value]) => value as string | string[]);
}

test("the page has twelve questions, and every id of a call is in an answer before it", () => {
  const questions = page.split(/^### /m).slice(1);
  expect(questions).toHaveLength(12);
  let ids = 0;
  for (const question of questions) {
    let answers = "";
    for (const [, args = "", answer = ""] of question.matchAll(
      /```json\n([\s\S]*?)\n```\n\nreturns\n\n```json\n([\s\S]*?)\n```/g,
    )) {
      for (const id of idsOf(JSON.parse(args))) {
        expect(answers, question.split("\n")[0]).toContain(`"${id}"`);
        ids++;
      }
      answers += answer;
    }
    expect(answers).not.toBe("");
  }
  expect(ids).toBeGreaterThan(15);
});
