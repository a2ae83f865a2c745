import { expect, test } from "vitest";
import { commentOf } from "../../services/shared/tools/comments.js";
import { readImage } from "../../services/shared/tools/image.js";
import { readTools } from "../../services/shared/tools/tools.js";
import { givesIds, type IdArgument, idArgumentsOf } from "../support/id-arguments.js";

// Ids come from results, never from memory: every argument that takes one says
// which tool gives it.

const tools = readTools(readImage());

/** What is wrong with what an argument says of where its id comes from; undefined where nothing is. */
function problemOf({ tool, field }: IdArgument, comment: string): string | undefined {
  const where = `${tool.server}/${tool.name}: ${field.name}: "${comment}"`;
  const named = tools.filter(({ server, name }) => server === tool.server && new RegExp(`\\b${name}\\b`).test(comment));
  if (named.length === 0) return `${where} names no tool that gives it`;
  if (!named.some(({ readOnly, result }) => readOnly && givesIds(result)))
    return `${where} names no tool that reads ids`;
  return comment.split(/[.] /).length > 2 ? `${where} is longer than two sentences` : undefined;
}

const all = tools.flatMap((tool) => idArgumentsOf(tool));

test("every id argument says which tool gives it", () => {
  expect(all.length).toBeGreaterThan(100);
  expect(all.flatMap((one) => problemOf(one, commentOf(one.field)) ?? [])).toEqual([]);
});

test("one that does not is found", () => {
  const [one] = all as [IdArgument];
  expect(problemOf(one, "The object's id.")).toMatch(/names no tool that gives it/);
  expect(problemOf(one, "One. Two. Three, as whoami says.")).toMatch(/longer than two sentences/);
});
