import { expect, test } from "vitest";
import { BAD_TOKENS } from "../../../../facade/admission/admit.js";
import { Failures } from "../../../../services/shared/limits/failures.js";

const HERE = "192.0.2.1";

test("an address within its budget never waits, and one bad token counts once", () => {
  const bad = new Failures({ ...BAD_TOKENS, budget: 2 }, () => 0);
  for (let i = 0; i < 5; i++) expect(bad.note(HERE, "one")).toBe(false);
  expect(bad.waitOf(HERE, "another")).toBe(0);
  expect(bad.note(HERE, "two")).toBe(false);
  expect(bad.note(HERE, "three")).toBe(true);
  expect(bad.note(HERE, "two")).toBe(false);
  expect(bad.waitOf("192.0.2.2", "three")).toBe(0);
});

test("over its budget an address has its tokens verified at a pace, and no more wait than get a turn soon", () => {
  let now = 1_000;
  const bad = new Failures({ ...BAD_TOKENS, budget: 1 }, () => now);
  bad.note(HERE, "bad");
  const waits = Array.from({ length: 200 }, (_, i) => bad.waitOf(HERE, `t${i}`));
  expect(waits.slice(0, 3)).toEqual([0, 20, 40]);
  expect(waits.filter(Number.isFinite)).toHaveLength(101);
  // What is known to be bad takes nobody's turn.
  expect(bad.waitOf(HERE, "bad")).toBe(0);
  now += 5_000;
  expect(bad.waitOf(HERE, "later")).toBe(0);
});
