import { expect, test } from "vitest";
import { closestName } from "../../../../../services/shared/tools/codec/closest-name.js";

const NAMES = ["page_size", "page_token", "query", "id", "ids", "created_after", "tier", "label"];

test.each([
  ["pageSize", "page_size"],
  ["page_sze", "page_size"],
  ["qeury", "query"],
  ["createdAfter", "created_after"],
  ["crated-after", "created_after"],
  ["Id", "id"],
  ["lable", "label"],
  ["teir", "tier"],
  ["di", "id"],
  ["pgae_sze", "page_size"],
  ["user", undefined],
  ["whatever", undefined],
  ["x", undefined],
  ["", undefined],
  ["x".repeat(100_000), undefined],
])("for %s it is %s", (given, meant) => {
  expect(closestName(given, NAMES)).toBe(meant);
});
