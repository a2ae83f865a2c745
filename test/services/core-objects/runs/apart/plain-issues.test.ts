import { expect, test } from "vitest";
import { plainIssues } from "../../../../../services/core-objects/runs/apart/plain-issues.js";

const REFUSED = "MCP error -32602: Invalid arguments for tool add: ";
/** As zod 3 and zod 4 write them. */
const ZOD_3 = `[
  {
    "code": "invalid_type",
    "expected": "number",
    "received": "string",
    "path": [
      "a"
    ],
    "message": "Expected number, received string"
  },
  {
    "code": "invalid_type",
    "expected": "string",
    "received": "number",
    "path": [
      "list",
      0,
      "name"
    ],
    "message": "Expected string, received number"
  }
]`;
const ZOD_4 = '[{"expected":"number","code":"invalid_type","path":["a"],"message":"Invalid input: expected number"}]';

test("the issues of a validator are a sentence", () => {
  expect(plainIssues(REFUSED + ZOD_3)).toBe(
    `${REFUSED}a: Expected number, received string; list[0].name: Expected string, received number`,
  );
  expect(plainIssues(REFUSED + ZOD_4)).toBe(`${REFUSED}a: Invalid input: expected number`);
});

test("of many issues the first are said, and how many more there are", () => {
  const issues = Array.from({ length: 25 }, (_, i) => ({ code: "custom", path: [`f${i}`], message: "no" }));
  const said = plainIssues(`Refused: ${JSON.stringify(issues, null, 2)}.`);
  expect(said).toMatch(/^Refused: f0: no; f1: no; .*f9: no; and 15 more\.$/);
});

test.each([
  "",
  "plain words",
  "a list [1, 2] of numbers",
  '[{"name": "a row of a table"}]',
  '[{"code": "x", "path": [{}], "message": "no path"}]',
  '[{"code": "never closed"',
])("%j stays as it is", (text) => {
  expect(plainIssues(text)).toBe(text);
});
