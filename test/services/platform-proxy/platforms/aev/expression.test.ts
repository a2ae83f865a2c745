import { expect, test } from "vitest";
import { expressionProblem } from "../../../../../services/platform-proxy/platforms/aev/expression.js";

test.each([
  "flag\\{[a-z]+\\}",
  "(?i)secret",
  "(?<name>a|b)*+",
  "(?>a)b?",
  "[]a]+",
  "[^]]",
  "[(*]",
  "\\Q(((\\E",
  "a{2,}?",
  "\\p{Alpha}(?:x)?",
  "",
])("%s is an expression", (expression) => {
  expect(expressionProblem(expression)).toBeUndefined();
});

test.each([
  ["(a", "has an unclosed ("],
  ["a)", "closes a group that was not opened"],
  ["[a", "has an unclosed ["],
  ["*a", "has a * that repeats nothing"],
  ["a|+", "has a + that repeats nothing"],
  ["a\\", "ends in a single backslash"],
])("%s is not a regular expression", (expression, problem) => {
  expect(expressionProblem(expression)).toBe(problem);
});
