import { expect, test } from "vitest";
import { createReadQuery, type ListOptions } from "../../../facade/catalogue/endpoint-query.js";
import { readImage } from "../../../services/shared/tools/image.js";
import { takesTenant } from "../../../services/shared/tools/narrowing.js";
import { readTools } from "../../../services/shared/tools/tools.js";
import { excludeSpellings, readOnlySpellings, tenantSpellings } from "../support/spellings.js";

const TOOLS = readTools(readImage()).filter(({ server }) => server === "grc");
const TENANT = "0b6f6c9e-8a51-4f0e-9c0d-1f1d9a3c2e77";
const OTHER = "7f1d4a02-33c5-4a6b-8f5e-0c9b2d1e4a55";
const read = createReadQuery(TOOLS);
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
  ["order of toolsets", "toolsets=risk,asset", "toolsets=asset,risk"],
  ["a toolset twice, and spaces", "toolsets=asset,risk", "toolsets=risk,%20asset,+asset"],
  ["an encoded comma", "toolsets=asset,risk", "toolsets=asset%2Crisk"],
  ["an encoded name", "readonly=1", "%72eadonly=%31"],
  ["1 or true", "readonly=1", "readonly=true"],
  ["empty parameters", "readonly=1", "&readonly=1&&"],
  ["order of what is excluded", "exclude=risk,whoami", "exclude=whoami,+risk"],
  ["which tenant, since the list is the same", `tenant=${TENANT}`, `tenant=${OTHER}`],
])("one list is kept for queries that mean the same: %s", (_, one, other) => {
  expect(optionsOf(other).key).toBe(optionsOf(one).key);
});

test("queries that mean different lists have different keys", () => {
  const queries = [
    "readonly=1",
    "output_schemas=1",
    "readonly=1&output_schemas=1",
    "toolsets=asset",
    "toolsets=risk",
    "exclude=risk",
    "exclude=asset,risk",
    `tenant=${TENANT}`,
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
  [
    "readOnly=1",
    "unknown_parameter",
    /parameter readOnly.*Known parameters are readonly=1, output_schemas=1, toolsets=NAME,NAME, exclude=NAME,NAME and tenant=ID\./,
  ],
  ["tenant=x", "invalid_parameter", /tenant takes the id of one tenant, a UUID/],
  ["tenant=", "invalid_parameter", /tenant takes the id/],
  [`tenant=${TENANT}&tenant=${TENANT}`, "invalid_parameter", /tenant is given more than once/],
  [
    "exclude=nope",
    "invalid_parameter",
    /nope is not a toolset or tool of this server. Toolsets .* basic\. Its tools are .*whoami/,
  ],
  ["exclude=", "invalid_parameter", /exclude has an empty name/],
  ["exclude=risk&exclude=asset", "invalid_parameter", /exclude is given more than once/],
  ["exclude=__proto__", "invalid_parameter", /__proto__ is not a toolset or tool/],
  ["toolsets=whoami", "invalid_parameter", /whoami is not a toolset of this server/],
  ["readonly=yes", "invalid_parameter", /readonly takes 1 or true; leave it out/],
  ["readonly=1&readonly=1", "invalid_parameter", /readonly is given more than once/],
  ["output_schemas=0", "invalid_parameter", /output_schemas takes 1 or true/],
  [
    "toolsets=nope",
    "invalid_parameter",
    /nope is not a toolset of this server. Toolsets of this server are account, .*risk.* basic\./,
  ],
  ["toolsets=Risk", "invalid_parameter", /Risk is not a toolset of this server/],
  ["toolsets=", "invalid_parameter", /toolsets has an empty name/],
  ["toolsets=risk,", "invalid_parameter", /toolsets has an empty name/],
  ["toolsets=risk&toolsets=asset", "invalid_parameter", /toolsets is given more than once/],
  ["__proto__=1", "unknown_parameter", /__proto__/],
  ["toolsets=constructor", "invalid_parameter", /constructor is not a toolset/],
])("?%s is refused with what is known", (query, word, message) => {
  expect(refusalOf(query)).toMatchObject({ status: 400, word, message: expect.stringMatching(message) });
});

test("what may be a secret is not repeated", () => {
  const secret = `slp_${"a".repeat(60)}`;
  for (const query of [
    `${secret}=1`,
    `key=${secret}`,
    `toolsets=${secret}`,
    `exclude=${secret}`,
    `tenant=${secret}`,
    `readonly=${secret}`,
  ]) {
    expect(refusalOf(query)?.message).not.toContain(secret);
  }
});

test("a query of any length costs little, and nothing that is refused is kept", () => {
  expect(refusalOf(`toolsets=${"risk,".repeat(5_000)}risk`)?.message).toMatch(/longer than 4000 characters/);
  const first = read("readonly=yes");
  expect(read("readonly=yes")).not.toBe(first);
  expect(read("readonly=1")).toBe(read("readonly=1"));
});

test("every spelling of exclude means what it says, or is refused", () => {
  const spellings = excludeSpellings("delete_asset", "whoami");
  const accepted = spellings.filter((query) => refusalOf(query) === undefined);
  expect(spellings.length).toBeGreaterThan(200);
  for (const query of accepted) {
    expect([query, [...optionsOf(query).excluded]]).toEqual([
      query,
      [query.endsWith("=whoami") ? "whoami" : "delete_asset"],
    ]);
  }
  expect(accepted).toContain("exclude=delete_asset");
  expect(accepted.length).toBeLessThan(15);
});

test("every spelling of tenant means what it says, or is refused", () => {
  const spellings = tenantSpellings(TENANT, OTHER);
  const accepted = spellings.filter((query) => refusalOf(query) === undefined);
  expect(spellings.length).toBeGreaterThan(200);
  for (const query of accepted) expect([query, optionsOf(query).tenant]).toEqual([query, TENANT]);
  expect(accepted).toEqual(expect.arrayContaining([`tenant=${TENANT}`, `tenant=${TENANT.toUpperCase()}`]));
  expect(accepted.length).toBeLessThan(15);
});

test("a server whose tools take no tenant knows no such parameter, and no server takes one of another form", () => {
  const all = readTools(readImage());
  const others = createReadQuery(all.filter(({ server }) => server === "cti"));
  expect(others(`tenant=${TENANT}`)).toMatchObject({
    word: "unknown_parameter",
    message: expect.stringMatching(/toolsets=NAME,NAME and exclude=NAME,NAME\./),
  });
  const tenants = all.filter(takesTenant).map(({ listing }) => listing.inputSchema.properties?.tenant_id);
  expect(tenants.length).toBeGreaterThan(100);
  expect(new Set(tenants.map((schema) => `${schema?.type} ${schema?.format}`))).toEqual(new Set(["string uuid"]));
});
