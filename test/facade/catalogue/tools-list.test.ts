import { expect, test } from "vitest";
import { listKeyOf, listOptionsOf } from "../../../facade/catalogue/tools-list.js";

const keyOf = (query: string) => listKeyOf(listOptionsOf(query));

test.each([
  ["order of parameters", "readonly=1&output_schemas=1", "output_schemas=1&readonly=1"],
  ["order of toolsets", "toolsets=search,cases", "toolsets=cases,search"],
  ["a toolset twice, and spaces", "toolsets=cases,search", "toolsets=search, cases,cases"],
  ["1 or true", "readonly=1", "readonly=true"],
  ["what is not known", "readonly=1", "readonly=1&cache_buster=17"],
])("one list is kept for queries that mean the same: %s", (_, one, other) => {
  expect(keyOf(one)).toBe(keyOf(other));
});

test.each(["readonly=1", "output_schemas=1", "toolsets=cases", "toolsets=search", "toolsets=", ""])(
  "?%s means a list of its own",
  (query) => {
    const others = ["readonly=1", "output_schemas=1", "toolsets=cases", "toolsets=search", "toolsets=", ""];
    expect(others.filter((other) => keyOf(other) === keyOf(query))).toEqual([query]);
  },
);
