import { expect, test } from "vitest";
import { holds, piecesOf } from "../../../services/shared/query-text.js";

test.each([
  ["Blue team", "blue", true],
  ["Blue team", " BLUE TEAM ", true],
  ["Blue team", "blu*", true],
  ["Blue team", "*team", true],
  ["Blue team", "b*m", true],
  ["Blue team", "*", true],
  ["Blue team", "", true],
  ["Blue team", "red*", false],
  ["Blue team", "blue  team", false],
])("%j has what %j asks for: %j", (text, query, expected) => {
  expect(holds(text, query)).toBe(expected);
});

test("a query of many texts is refused: each is looked for in each row", () => {
  expect(piecesOf("a*".repeat(100))).toEqual(["a"]);
  expect(piecesOf("a*b*c*d*e*f*g*h*i*j")).toHaveLength(10);
  expect(() => piecesOf("a*b*c*d*e*f*g*h*i*j*k")).toThrow(/more than 10 texts between asterisks; leave some out/);
});
