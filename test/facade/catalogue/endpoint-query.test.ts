import { expect, test } from "vitest";
import { createReadQuery, type ListOptions } from "../../../facade/catalogue/endpoint-query.js";
import { readOnlySpellings } from "../support/spellings.js";

const read = createReadQuery(["search", "cases"]);
const optionsOf = (query: string): ListOptions => {
  const options = read(query);
  if ("status" in options) throw new Error(options.message);
  return options;
};
const refusalOf = (query: string) => {
  const refusal = read(query);
  return "status" in refusal ? refusal : undefined;
};

test.each([
  ["order of parameters", "readonly=1&output_schemas=1", "output_schemas=1&readonly=1"],
  ["order of toolsets", "toolsets=search,cases", "toolsets=cases,search"],
  ["a toolset twice, and spaces", "toolsets=cases,search", "toolsets=search,%20cases,+cases"],
  ["an encoded comma", "toolsets=cases,search", "toolsets=cases%2Csearch"],
  ["an encoded name", "readonly=1", "%72eadonly=%31"],
  ["1 or true", "readonly=1", "readonly=true"],
  ["empty parameters", "readonly=1", "&readonly=1&&"],
])("one list is kept for queries that mean the same: %s", (_, one, other) => {
  expect(optionsOf(other).key).toBe(optionsOf(one).key);
});

test("queries that mean different lists have different keys", () => {
  const queries = [
    "readonly=1",
    "output_schemas=1",
    "readonly=1&output_schemas=1",
    "toolsets=cases",
    "toolsets=search",
    "",
  ];
  expect(new Set(queries.map((query) => optionsOf(query).key)).size).toBe(queries.length);
});

test("every spelling of readonly means what it says, or is refused", () => {
  const spellings = readOnlySpellings();
  const accepted = spellings.filter((query) => refusalOf(query) === undefined);
  expect(spellings.length).toBeGreaterThan(500);
  for (const query of accepted) expect([query, optionsOf(query).readOnly]).toEqual([query, true]);
  expect(accepted).toEqual(
    expect.arrayContaining(["readonly=1", "readonly=true", "%72eadonly=1", "readonly=%31", "&readonly=1"]),
  );
  expect(accepted.length).toBeLessThan(15);
});

test.each([
  ["readOnly=1", "unknown_parameter", /parameter readOnly.*Known are readonly=1, output_schemas=1 and toolsets=/],
  ["tenant=x", "unknown_parameter", /parameter tenant /],
  ["readonly=yes", "invalid_parameter", /readonly takes 1 or true; leave it out/],
  ["readonly=1&readonly=1", "invalid_parameter", /readonly is given more than once/],
  ["output_schemas=0", "invalid_parameter", /output_schemas takes 1 or true/],
  ["toolsets=nope", "invalid_parameter", /nope is no toolset here. Toolsets of this server are search, cases/],
  ["toolsets=Search", "invalid_parameter", /Search is no toolset here/],
  ["toolsets=", "invalid_parameter", /toolsets has an empty name/],
  ["toolsets=search,", "invalid_parameter", /toolsets has an empty name/],
  ["toolsets=search&toolsets=cases", "invalid_parameter", /toolsets is given more than once/],
  ["__proto__=1", "unknown_parameter", /__proto__/],
  ["toolsets=constructor", "invalid_parameter", /constructor is no toolset/],
])("?%s is refused with what is known", (query, word, message) => {
  expect(refusalOf(query)).toMatchObject({ status: 400, word, message: expect.stringMatching(message) });
});

test("what may be a secret is not repeated", () => {
  const secret = `slp_${"a".repeat(60)}`;
  for (const query of [`${secret}=1`, `key=${secret}`, `toolsets=${secret}`, `readonly=${secret}`]) {
    expect(refusalOf(query)?.message).not.toContain(secret);
  }
});

test("a query of any length costs little, and nothing that is refused is kept", () => {
  expect(refusalOf(`toolsets=${"search,".repeat(5_000)}search`)?.message).toMatch(/longer than 4000 characters/);
  const first = read("readonly=yes");
  expect(read("readonly=yes")).not.toBe(first);
  expect(read("readonly=1")).toBe(read("readonly=1"));
});
