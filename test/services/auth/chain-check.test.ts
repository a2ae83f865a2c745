import { expect, test } from "vitest";
import { ChainCheck, type Link } from "../../../services/auth/chain-check.js";

const link = (number: number, previous = number === 1 ? "" : `h${number - 1}`): Link => ({
  ...{ number, hash: `h${number}`, previous },
});

function checked(...links: Link[]): ChainCheck {
  const check = new ChainCheck();
  for (const one of links) check.add(one);
  return check;
}

test("records that fit have no problem, and gaps are counted", () => {
  expect(checked(link(1), link(2), link(5), link(6))).toMatchObject({
    records: 4,
    missing: 2,
    problemCount: 0,
    first: 1,
  });
});

test("a record with another hash of the one before it is told", () => {
  expect(checked(link(1), link(2, "x"), link(3)).problems).toEqual([
    { number: 2, reason: "its hash of record 1 is another: one of the two was changed" },
  ]);
});

test("a record that comes after a later one is told", () => {
  expect(checked(link(2), link(1)).problems).toEqual([{ number: 1, reason: "it comes after record 2" }]);
});

test("records of before there were hashes fit, and one that lost its hash does not", () => {
  expect(checked(link(1, ""), link(2, ""), link(3)).problemCount).toBe(0);
  expect(checked(link(1), link(2), link(3, "")).problemCount).toBe(1);
});

test("of very many problems a hundred are told", () => {
  const check = new ChainCheck();
  for (let number = 1; number <= 300; number++) check.add(link(number, "x"));
  expect(check.problems).toHaveLength(100);
  expect(check.problemCount).toBe(299);
});
