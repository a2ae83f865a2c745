import type { DescField, DescMessage } from "@bufbuild/protobuf";
import { expect, test } from "vitest";
import { commentOf } from "../../services/shared/tools/comments.js";
import { readImage } from "../../services/shared/tools/image.js";
import { readTools, type Tool } from "../../services/shared/tools/tools.js";

// Ids come from results, never from memory: every argument that takes one says
// which tool gives it.

const tools = readTools(readImage());

/** Ids that the caller makes, and references that people give. */
const OWN = ["request_id", "ref_id", "under_ref_id", "external_id"];

interface Argument {
  readonly tool: Tool;
  readonly field: DescField;
}

function argumentsOf(tool: Tool, message: DescMessage = tool.method.input): Argument[] {
  return message.fields.flatMap((field) => {
    const own = /(^|_)ids?$/.test(field.name) && !OWN.includes(field.name) ? [{ tool, field }] : [];
    const { message: inner } = field;
    return [...own, ...(inner === undefined || inner.typeName.startsWith("google.") ? [] : argumentsOf(tool, inner))];
  });
}

function givesIds(message: DescMessage, seen = new Set<DescMessage>()): boolean {
  if (seen.has(message)) return false;
  seen.add(message);
  return message.fields.some(
    ({ name, message: inner }) => /(^|_)id$/.test(name) || (inner !== undefined && givesIds(inner, seen)),
  );
}

/** What is wrong with what an argument says of where its id comes from; undefined where nothing is. */
function problemOf({ tool, field }: Argument, comment: string): string | undefined {
  const where = `${tool.server}/${tool.name}: ${field.name}: "${comment}"`;
  const named = tools.filter(({ server, name }) => server === tool.server && new RegExp(`\\b${name}\\b`).test(comment));
  if (named.length === 0) return `${where} names no tool that gives it`;
  if (!named.some(({ readOnly, result }) => readOnly && givesIds(result)))
    return `${where} names no tool that reads ids`;
  return comment.split(/[.] /).length > 2 ? `${where} is longer than two sentences` : undefined;
}

const all = tools.flatMap((tool) => argumentsOf(tool));

test("every id argument says which tool gives it", () => {
  expect(all.length).toBeGreaterThan(100);
  expect(all.flatMap((one) => problemOf(one, commentOf(one.field)) ?? [])).toEqual([]);
});

test("one that does not is found", () => {
  const [one] = all as [Argument];
  expect(problemOf(one, "The object's id.")).toMatch(/names no tool that gives it/);
  expect(problemOf(one, "One. Two. Three, as whoami says.")).toMatch(/longer than two sentences/);
});
