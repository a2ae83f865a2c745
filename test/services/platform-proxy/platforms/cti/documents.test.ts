import { readdirSync, readFileSync } from "node:fs";
import { buildSchema, Kind, parse, validate, validateSchema } from "graphql";
import { expect, test } from "vitest";
import { loadPlatform } from "../../../../../services/platform-proxy/parts.js";
import { SDL } from "../../../../../services/sandbox/cti/sdl.js";
import { readImage } from "../../../../../services/shared/tools/image.js";
import { readTools } from "../../../../../services/shared/tools/tools.js";
import { readRecording } from "../../../../support/platforms/recording.js";
import { documents } from "./binding-documents.js";
import { differencesOf } from "./schema-differences.js";

const { bindings } = await loadPlatform("cti");
const schema = buildSchema(SDL);
/** What the makers of the real platform (7.260817.0) publish of the types that ours has; see scripts/cti-published-schema.ts. */
const published = buildSchema(readFileSync(new URL("./published.graphql", import.meta.url), "utf8"), {
  assumeValid: true,
});

test("the sandbox's schema is valid", () => {
  expect(validateSchema(schema)).toEqual([]);
});

test("every document that a module of the platform writes is found", () => {
  const folder = new URL("../../../../../services/platform-proxy/platforms/cti/", import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => file.endsWith(".ts"));
  const written = files.flatMap((file) =>
    [...readFileSync(new URL(file, folder), "utf8").matchAll(/^\s*(?:query|mutation) (\w+)/gm)].map(([, name]) => name),
  );
  const found = new Set(documents.map(([, text]) => /(?:query|mutation) (\w+)/.exec(text)?.[1]));
  expect(written.filter((name) => !found.has(name))).toEqual([]);
  expect(found.size).toBe(new Set(written).size);
});

test.each(documents)("the document %s is valid against the schema", (_, document) => {
  expect(validate(schema, parse(document)).map(({ message }) => message)).toEqual([]);
});

test.each(documents)("the document %s means to the real platform what it means here", (_, document) => {
  expect(differencesOf(document, schema, published)).toEqual([]);
});

test.each([
  ["{ nothing }", 'Cannot query field "nothing" on type "Query".'],
  ["{ me { id } }", "MeUser.id is String, not ID!"],
  ["query Q($input: LabelAddInput) { about { version } }", "LabelAddInput.colour does not exist"],
  ["query Q($input: LabelAddInput) { about { version } }", "LabelAddInput.name is required"],
])("a difference in %s is told: %s", (document, said) => {
  const other = buildSchema(
    SDL.replace("type MeUser { id: ID!", "type MeUser { id: String").replace(
      "LabelAddInput { value",
      "LabelAddInput { name: String! value",
    ),
  );
  const own = buildSchema(SDL.replace("LabelAddInput { value", "LabelAddInput { colour: String value"));
  expect(differencesOf(document, own, other)).toContain(said);
});

test.each(documents)("the document %s asks for no mutation twice and for no query more than twice", (_, document) => {
  for (const definition of parse(document).definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue;
    const fields = definition.selectionSet.selections.map((one) => (one.kind === Kind.FIELD ? one.name.value : ""));
    if (definition.operation === "mutation") expect(fields).toHaveLength(1);
    expect(fields.length).toBeLessThanOrEqual(2);
  }
});

test("every document that the real platform ran is valid against the schema too", () => {
  const answered = readRecording("cti").exchanges.filter(({ shape }) => !("errors" in (shape as object)));
  const ran = new Set(answered.map(({ document }) => document as string));
  const invalid = [...ran].filter((document) => validate(schema, parse(document)).length > 0);
  // The trash is not part of the sandbox.
  expect(invalid.filter((document) => !document.includes("deleteOperation"))).toEqual([]);
});

test("every tool of the server has one binding, and every binding is of a tool", () => {
  const tools = readTools(readImage()).filter(({ server }) => server === "cti");
  const bound = bindings.map(({ method }) => `${method.parent.typeName}/${method.name}`);
  const wanted = tools.map(({ method }) => `${method.parent.typeName}/${method.name}`);
  expect(bound.toSorted()).toEqual(wanted.toSorted());
});
