import { expect, test } from "vitest";
import { passagesOf } from "../../../../services/core-objects/knowledge/passages.js";

const headingsOf = (line: string) => passagesOf(`${line}\n\ntext`, "markdown").at(-1)!.headings;

test.each([
  ["# A b ##", ["A b"]],
  ["## x#", ["x#"]],
  ["# # #", ["#"]],
  ["### c   ###", ["c"]],
  ["# a #b", ["a #b"]],
  ["# a\t#", ["a"]],
  ["#", [""]],
  ["####### no", []],
  ["#no", []],
])("an ATX heading is read as CommonMark does: %s", (line, headings) => {
  expect(headingsOf(line).filter((one) => one !== "")).toEqual(headings.filter((one) => one !== ""));
});

test("a line as long as a document is read in one go: in seconds, not hours, whatever it is made of", () => {
  const long = 500_000;
  for (const [from, filling, to] of [
    ["# a", " ", "b"],
    ["# a", " #", "b"],
    ["# ", "#", "b"],
    ["# a", "\t", "#b"],
    ["===", " ", "b"],
    ["a b", " ", "- ="],
  ] as const) {
    const line = from + filling.repeat(long / filling.length) + to;
    expect(passagesOf(`${line}\n\ntext`, "markdown").at(-1)!.text).toMatch(/text$/);
  }
});
