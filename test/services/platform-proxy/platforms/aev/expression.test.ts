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
  "\\1(?<=a+)b",
  "a++b",
  "[a[(]&&[^b]]",
  "[[:alpha:]]",
  "{1}",
  "a{1}{2}",
  "^*\\b*(?=a)*()*",
  "(?<n>a)\\k<n>",
  "\\x41\\x{10FFFF}\\u0041\\07\\cA",
  "(?i-s:a)(?x)",
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
  ["a{,2}", "has a { that is not followed by a number of times and a }"],
  ["a{1", "has a { that is not followed by a number of times and a }"],
  ["x{99999999999}", "has a { that is not followed by a number of times and a }"],
  ["a{2,1}", "has a repetition {2,1} that runs backwards"],
  ["a**", "has a * that repeats nothing"],
  ["a+?+", "has a + that repeats nothing"],
  ["(?<n>a)(?<n>b)", "has two groups n"],
  ["[z-a]", "has a range z-a that runs backwards"],
  ["(?P<n>a)", "has a ( followed by a ? and what Java does not know"],
  ["(?z)a", "has a ( followed by a ? and what Java does not know"],
  ["(?<1a>x)", "has a ( followed by a ? and what Java does not know"],
  ["\\k<x>", "refers to a group x that is not before it"],
  ["\\y", "has \\y, which Java does not know or needs more after it"],
  ["\\c", "has \\c, which Java does not know or needs more after it"],
  ["\\x{110000}", "has \\x, which Java does not know or needs more after it"],
  ["\\0", "has \\0, which Java does not know or needs more after it"],
  ["[]", "has an unclosed ["],
])("%s is not a regular expression", (expression, problem) => {
  expect(expressionProblem(expression)).toBe(problem);
});
