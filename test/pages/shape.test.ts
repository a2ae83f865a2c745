import { expect, test } from "vitest";
import { cut } from "./analysts/cut.js";
import { shapeOf, shapeOfPage } from "./shape.js";

test("a shape has the types of all rows, and no values", () => {
  const rows = [{ id: "a", n: 1 }, { id: "b", more: ["x"] }, "… 4 more"];
  expect(shapeOf({ rows, at: "2026" })).toEqual({
    at: "string",
    rows: [{ id: "string", more: ["string"], n: "number" }],
  });
  expect(shapeOf([1, "a"])).toEqual(["number|string"]);
});

const page = (args: object, answer: object): string =>
  `\`\`\`json\n${JSON.stringify(args)}\n\`\`\`\n\nreturns\n\n\`\`\`json\n${JSON.stringify(answer)}\n\`\`\`\n\nIt is **${JSON.stringify(answer).length}**.`;
const [one, two] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"];

test("a page with other values has the same shape; one with other fields or arguments has not", () => {
  const was = shapeOfPage(page({ ids: [one] }, { name: "a", score: 1 }));
  expect(shapeOfPage(page({ ids: [two, one] }, { name: "long", score: 22 }))).toBe(was);
  expect(shapeOfPage(page({ ids: [one] }, { name: "a" }))).not.toBe(was);
  expect(shapeOfPage(page({ ids: [one] }, { name: "a", score: "1" }))).not.toBe(was);
  expect(shapeOfPage(page({ id: one }, { name: "a", score: 1 }))).not.toBe(was);
});

test("what is kept of an answer has to be there", () => {
  const answer = { rows: [{ id: 1, x: 2 }, { id: 2 }, { id: 3 }], all: true };
  expect(cut(answer, ["rows.id"], 2)).toEqual({ rows: [{ id: 1 }, { id: 2 }, "… 1 more"] });
  expect(() => cut(answer, ["rows.gone"])).toThrow("the answer has no rows.gone");
});
