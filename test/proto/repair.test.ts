import { expect, test } from "vitest";
import { SERVERS } from "../../services/shared/platforms.js";
import { readImage } from "../../services/shared/tools/image.js";
import { readTools } from "../../services/shared/tools/tools.js";
import { errorOf, type Mistake, mistakesIn, repaired } from "./repair.js";

const TOOLS = readTools(readImage());

/** What is wrong with the error of a mistake; undefined if the second call is right. */
function problemOf(mistake: Mistake): string | undefined {
  const { tool, argument, kind, made } = mistake;
  const where = `${tool.server}/${tool.name} ${argument}, ${kind}`;
  const error = errorOf(tool, made);
  if (error === undefined) return `${where}: nothing is said`;
  const second = repaired(mistake, error);
  if (second === undefined) return `${where}: the error does not say what to do: ${error}`;
  const still = errorOf(tool, second);
  return still === undefined ? undefined : `${where}: after "${error}" comes "${still}"`;
}

test.each(SERVERS)("the second call is right on %s", (server) => {
  const mistakes = TOOLS.filter((tool) => tool.server === server).flatMap(mistakesIn);
  expect(mistakes.length).toBeGreaterThan(400);
  expect(mistakes.flatMap((one) => problemOf(one) ?? [])).toEqual([]);
});

test("an error that does not say what to do is found", () => {
  const [mistake] = mistakesIn(TOOLS.find(({ name }) => name === "list_indicators")!) as [Mistake];
  expect(repaired(mistake, "something is wrong")).toBeUndefined();
  expect(repaired(mistake, `${mistake.argument}: is not what the schema says`)).toBeUndefined();
});
