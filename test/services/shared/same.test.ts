import { expect, test } from "vitest";
import { isSame } from "../../../services/shared/same.js";

test("values are the same if they hold the same, and not if only the type or the sign of zero differs", () => {
  const list = ["a"];
  for (const [one, other] of [
    [list, list],
    [list, ["a"]],
    [{ a: { b: new Date(1) } }, { a: { b: new Date(1) } }],
    [Number.NaN, Number.NaN],
    [undefined, undefined],
  ])
    expect(isSame(one, other)).toBe(true);
  for (const [one, other] of [
    [list, ["b"]],
    [["a"], ["a", "a"]],
    [new Date(1), new Date(2)],
    [0, -0],
    ["1", 1],
    [null, undefined],
    [{ a: 1 }, { a: 1, b: undefined }],
  ])
    expect(isSame(one, other)).toBe(false);
});
