import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { ADMINISTRATOR, administratorsPage } from "../pages/hours/administrator.js";
import { masked } from "../pages/hours/shell.js";

test("docs/administrators-hour.md is what a shell shows (npm run pages)", async () => {
  expect(masked(readFileSync(ADMINISTRATOR, "utf8"))).toBe(masked(await administratorsPage()));
});

test("ids, times and sizes may differ; counts and names may not", () => {
  const was = masked("id  0fKFm2khcRFe\n2026-11-22 07:20:47  agents 3");
  expect(masked("id 1gKFm2khcRFe\n2027-01-02 17:20:47 agents 3")).toBe(was);
  expect(masked("id 1gKFm2khcRFe\n2027-01-02 17:20:47 agents 6")).not.toBe(was);
});
